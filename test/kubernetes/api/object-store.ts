// The store that the API server, the controllers and the nodes share, in memory and synchronous. Objects that it
// returns or delivers are copies: their reader may change them, and nothing changes in the store until it is written.

export type OwnerReference = {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
};

export type ManagedFields = {
  manager: string;
  operation: "Apply" | "Update";
  apiVersion: string;
  time?: string;
  fieldsType: "FieldsV1";
  fieldsV1: Record<string, unknown>;
  subresource?: string;
};

export type Metadata = {
  name: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFields[];
};

// oxlint-disable-next-line no-explicit-any -- one type has the objects of all kinds, whose fields the schemas check
type Field = any;

/** A part of an object, read by the names of its fields. */
export type Fields = Record<string, Field>;

/** An object of the API. `metadata.name` may be empty only where `generateName` is given, until it is stored. */
export type KubeObject = {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  [field: string]: Field;
};

export type Propagation = "Background" | "Foreground" | "Orphan";

export type DeleteOptions = {
  propagation?: Propagation;
  gracePeriodSeconds?: number;
  /** A delete of another object of the same name, or of an older version, is refused with 409. */
  preconditions?: { uid?: string; resourceVersion?: string };
};

export type WatchEvent = { type: "ADDED" | "MODIFIED" | "DELETED"; object: KubeObject };

export interface ObjectStore {
  get(plural: string, namespace: string | null, name: string): KubeObject | null;
  /** Objects in the order of their names; `null` reads all namespaces. */
  list(plural: string, namespace: string | null): readonly KubeObject[];
  /** Throws an ApiFault: 409 AlreadyExists, 404 without its namespace, 422 with a wrong value. */
  create(plural: string, object: KubeObject): KubeObject;
  /** Keeps the status. 409 Conflict if `resourceVersion` is given and old. Equal content stores nothing. */
  update(plural: string, object: KubeObject): KubeObject;
  /** Changes only the status. */
  updateStatus(plural: string, object: KubeObject): KubeObject;
  delete(plural: string, namespace: string | null, name: string, options?: DeleteOptions): void;
  /** Delivers changes from now on, in order, each after it is stored; returns the end of the watch. */
  watch(plural: string, listener: (event: WatchEvent) => void): () => void;
}
