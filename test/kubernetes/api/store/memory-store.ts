// Keeps the objects, their versions and the history that watches read. Every change has one resource version of one
// counter, as in etcd. Invariants: a listener sees the changes in the order of their versions; an object that is being
// deleted stays until its finalizers and, for a pod, its grace period are gone. Source: docs, "Kubernetes API Concepts"
// (resource versions, efficient detection of changes), "Finalizers", "Pod Lifecycle" (termination of pods).
import { randomBytes, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { ApiFault, alreadyExists, conflict, forbidden, notFound, staleVersion } from "../fault.ts";
import type { DeleteOptions, KubeObject, ObjectStore, WatchEvent } from "../object-store.ts";
import type { Resource } from "../resources.ts";

/** A kind sets defaults of an object before it is stored, or throws an ApiFault. */
export interface Rules {
  create(resource: Resource, object: KubeObject): void;
  /** `byClient` is false for controllers and nodes, which write to the store itself. */
  update(resource: Resource, object: KubeObject, old: KubeObject, byClient: boolean): void;
}

export type WriteOptions = {
  /** Everything is checked, and nothing is stored. Source: docs, "Kubernetes API Concepts" (dry-run). */
  dryRun?: boolean;
  /** A client of the API writes, and may not change all fields. */
  byClient?: boolean;
  /** Notes the owners of fields, after defaults are set. */
  track?: (object: KubeObject, old: KubeObject | null) => void;
};

export type Change = WatchEvent & { version: number; previous: KubeObject | null };

type Table = {
  resource: Resource;
  objects: Map<string, KubeObject>;
  changes: Change[];
  oldest: number;
};
type Listener = { table: Table; listen: (change: Change) => void };

/** Older changes are forgotten, and a watch from them ends with 410. */
const HISTORY_MAX = 5000;
const GRACE_SECONDS = 30;

const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;
const keyOf = (namespace: string | null | undefined, name: string): string =>
  `${namespace ?? ""}/${name}`;

export class MemoryStore implements ObjectStore {
  readonly #tables = new Map<string, Table>();
  readonly #rules: Rules;
  readonly #listeners = new Set<Listener>();
  readonly #undelivered: { table: Table; change: Change }[] = [];
  #version = 1;
  #delivers = false;

  constructor(resources: readonly Resource[], rules: Rules) {
    this.#rules = rules;
    for (const resource of resources) {
      this.#tables.set(resource.plural, { resource, objects: new Map(), changes: [], oldest: 1 });
    }
  }

  /** The version of the newest change. */
  get version(): number {
    return this.#version;
  }

  get resources(): readonly Resource[] {
    return [...this.#tables.values()].map((table) => table.resource);
  }

  get(plural: string, namespace: string | null, name: string): KubeObject | null {
    const object = this.#table(plural).objects.get(keyOf(namespace, name));
    return object ? structuredClone(object) : null;
  }

  list(plural: string, namespace: string | null): readonly KubeObject[] {
    const objects = [...this.#table(plural).objects.values()];
    return objects
      .filter((object) => namespace === null || object.metadata.namespace === namespace)
      .sort((a, b) =>
        compare(
          keyOf(a.metadata.namespace, a.metadata.name),
          keyOf(b.metadata.namespace, b.metadata.name),
        ),
      )
      .map((object) => structuredClone(object));
  }

  create(plural: string, given: KubeObject, options: WriteOptions = {}): KubeObject {
    const { resource, objects } = this.#table(plural);
    const object = structuredClone(given);
    const { metadata } = object;
    if (resource.namespaced) metadata.namespace ??= "default";
    else delete metadata.namespace;
    if (!metadata.name && metadata.generateName) {
      metadata.name = `${metadata.generateName.slice(0, 58)}${randomSuffix()}`;
    }
    if (metadata.resourceVersion) throw badCreate();
    metadata.uid = randomUUID();
    metadata.creationTimestamp = now();
    delete metadata.deletionTimestamp;
    delete metadata.deletionGracePeriodSeconds;
    if (resource.generation) metadata.generation = 1;
    else delete metadata.generation;
    if (resource.status) delete object.status;
    this.#rules.create(resource, object);
    this.#admitToNamespace(resource, object);
    options.track?.(object, null);
    if (objects.has(keyOf(metadata.namespace, metadata.name)))
      throw alreadyExists(resource, metadata.name);
    return options.dryRun ? object : this.#put(plural, "ADDED", object, null);
  }

  update(plural: string, given: KubeObject, options: WriteOptions = {}): KubeObject {
    const { resource } = this.#table(plural);
    const old = this.#current(plural, given);
    const object = structuredClone(given);
    keepSystemFields(object, old);
    if (resource.status) setOrDelete(object, "status", old.status);
    this.#rules.update(resource, object, old, options.byClient === true);
    if (resource.generation) {
      object.metadata.generation =
        (old.metadata.generation ?? 1) + (sameSpecification(object, old) ? 0 : 1);
    }
    options.track?.(object, old);
    return this.#replace(plural, object, old, options.dryRun === true);
  }

  updateStatus(plural: string, given: KubeObject, options: WriteOptions = {}): KubeObject {
    const old = this.#current(plural, given);
    const object = structuredClone(old);
    setOrDelete(object, "status", structuredClone(given.status));
    if (given.metadata.managedFields)
      object.metadata.managedFields = structuredClone(given.metadata.managedFields);
    this.#rules.update(this.#table(plural).resource, object, old, false);
    options.track?.(object, old);
    return this.#replace(plural, object, old, options.dryRun === true);
  }

  /** Returns the object as it is after the delete: still there while finalizers or a grace period keep it. */
  remove(
    plural: string,
    namespace: string | null,
    name: string,
    options: DeleteOptions & { dryRun?: boolean } = {},
  ): { object: KubeObject; gone: boolean } {
    const { resource, objects } = this.#table(plural);
    const old = objects.get(keyOf(namespace, name));
    if (!old) throw notFound(resource, name);
    const { uid, resourceVersion } = options.preconditions ?? {};
    for (const [given, actual, field] of [
      [uid, old.metadata.uid, "UID"],
      [resourceVersion, old.metadata.resourceVersion, "ResourceVersion"],
    ] as const) {
      if (given === undefined || given === actual) continue;
      const why = `the ${field} in the precondition (${given}) does not match the ${field} in record (${actual}). `;
      throw conflict(resource, name, `${why}The object might have been deleted and then recreated`);
    }
    const object = structuredClone(old);
    markDeleted(resource, object, options);
    const gone = isFinished(resource, object);
    if (options.dryRun) return { object, gone };
    if (!gone) return { object: this.#replace(plural, object, old, false), gone };
    return { object: this.#put(plural, "DELETED", object, old), gone };
  }

  delete(plural: string, namespace: string | null, name: string, options?: DeleteOptions): void {
    this.remove(plural, namespace, name, options);
  }

  /** Takes the namespace's own finalizer away, when it is empty. Source: docs, "Namespaces" (finalize). */
  finalizeNamespace(name: string): void {
    const { resource, objects } = this.#table("namespaces");
    const old = objects.get(keyOf(null, name));
    if (!old) throw notFound(resource, name);
    const object = structuredClone(old);
    object.spec = { ...object.spec, finalizers: [] };
    this.#replace("namespaces", object, old, false);
  }

  watch(plural: string, listener: (event: WatchEvent) => void): () => void {
    return this.watchChanges(plural, null, ({ type, object }) => listener({ type, object }));
  }

  /** Delivers the changes after a version, or from now on. 410 Expired if changes since then are forgotten. */
  watchChanges(plural: string, after: number | null, listen: (change: Change) => void): () => void {
    const table = this.#table(plural);
    if (after !== null && after < table.oldest - 1) {
      throw new ApiFault(410, "Expired", `too old resource version: ${after} (${this.#version})`);
    }
    const deliver = (change: Change) =>
      listen({ ...change, object: structuredClone(change.object) });
    if (after !== null)
      for (const change of table.changes) if (change.version > after) deliver(change);
    const entry: Listener = { table, listen: deliver };
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  /** Forgets the history, as etcd does after five minutes. */
  compact(): void {
    for (const table of this.#tables.values()) {
      table.changes = [];
      table.oldest = this.#version + 1;
    }
  }

  #table(plural: string): Table {
    const table = this.#tables.get(plural);
    if (!table)
      throw new ApiFault(404, "NotFound", "the server could not find the requested resource");
    return table;
  }

  #current(plural: string, given: KubeObject): KubeObject {
    const { resource, objects } = this.#table(plural);
    const { namespace, name, uid, resourceVersion } = given.metadata;
    const old = objects.get(keyOf(resource.namespaced ? (namespace ?? "default") : null, name));
    if (!old) throw notFound(resource, name);
    if (resourceVersion && resourceVersion !== old.metadata.resourceVersion)
      throw staleVersion(resource, name);
    if (uid && uid !== old.metadata.uid) {
      const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`;
      throw conflict(resource, name, why);
    }
    return old;
  }

  /** Source: docs, "Namespaces"; a namespace that is being deleted admits nothing new. */
  #admitToNamespace(resource: Resource, { metadata }: KubeObject): void {
    if (!resource.namespaced) return;
    const namespaces = this.#table("namespaces");
    const namespace = namespaces.objects.get(keyOf(null, metadata.namespace ?? ""));
    if (!namespace) throw notFound(namespaces.resource, metadata.namespace ?? "");
    if (!namespace.metadata.deletionTimestamp) return;
    const why = `unable to create new content in namespace ${metadata.namespace} because it is being terminated`;
    throw forbidden(resource, metadata.name, why);
  }

  #replace(plural: string, object: KubeObject, old: KubeObject, dryRun: boolean): KubeObject {
    const { resource } = this.#table(plural);
    object.metadata.resourceVersion = old.metadata.resourceVersion ?? "";
    if (isDeepStrictEqual(withoutTimes(object), withoutTimes(old))) return structuredClone(old);
    if (dryRun) return object;
    // The last finalizer of a deleted object was removed. Source: docs, "Finalizers".
    const ends = Boolean(old.metadata.deletionTimestamp) && isFinished(resource, object);
    return this.#put(plural, ends ? "DELETED" : "MODIFIED", object, old);
  }

  #put(
    plural: string,
    type: WatchEvent["type"],
    object: KubeObject,
    previous: KubeObject | null,
  ): KubeObject {
    const table = this.#table(plural);
    this.#version += 1;
    object.metadata.resourceVersion = String(this.#version);
    const key = keyOf(object.metadata.namespace, object.metadata.name);
    if (type === "DELETED") table.objects.delete(key);
    else table.objects.set(key, object);
    const change: Change = { type, object, version: this.#version, previous };
    table.changes.push(change);
    if (table.changes.length > HISTORY_MAX)
      table.oldest = (table.changes.shift()?.version ?? 0) + 1;
    this.#undelivered.push({ table, change });
    this.#deliver();
    return structuredClone(object);
  }

  /** A change that a listener makes is delivered after the one it answers, so that all see one order. */
  #deliver(): void {
    if (this.#delivers) return;
    this.#delivers = true;
    try {
      for (let next = this.#undelivered.shift(); next; next = this.#undelivered.shift()) {
        for (const listener of [...this.#listeners]) {
          if (listener.table === next.table && this.#listeners.has(listener))
            listener.listen(next.change);
        }
      }
    } finally {
      this.#delivers = false;
    }
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const badCreate = (): ApiFault =>
  new ApiFault(400, "BadRequest", "resourceVersion should not be set on objects to be created");

/** Letters that form no words, as the API server's generator takes. Source: API conventions, "Idempotency". */
const randomSuffix = (): string => {
  const letters = "bcdfghjklmnpqrstvwxz2456789";
  return [...randomBytes(5)].map((byte) => letters[byte % letters.length]).join("");
};

const setOrDelete = (object: KubeObject, field: string, value: unknown): void => {
  if (value === undefined) delete object[field];
  else object[field] = value;
};

/** Fields that only the server writes. Source: API conventions, "Metadata". */
const keepSystemFields = (object: KubeObject, old: KubeObject): void => {
  const fields = [
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "generateName",
    "namespace",
  ] as const;
  for (const field of fields) {
    const value = old.metadata[field];
    if (value === undefined) delete object.metadata[field];
    else Object.assign(object.metadata, { [field]: value });
  }
};

const sameSpecification = (a: KubeObject, b: KubeObject): boolean => {
  const { metadata: _a, status: _sa, ...left } = a;
  const { metadata: _b, status: _sb, ...right } = b;
  return isDeepStrictEqual(left, right);
};

/** Times of managed fields say when content changed, so they are no change of content. */
const withoutTimes = (object: KubeObject): unknown => ({
  ...object,
  metadata: {
    ...object.metadata,
    managedFields: object.metadata.managedFields?.map((entry) => ({ ...entry, time: null })),
  },
});

const markDeleted = (resource: Resource, object: KubeObject, options: DeleteOptions): void => {
  const { metadata } = object;
  if (options.propagation !== undefined && !metadata.deletionTimestamp) {
    // Source: docs, "Garbage Collection" (cascading deletion): the collector works on these finalizers and removes
    // them.
    const kept = (metadata.finalizers ?? []).filter(
      (name) => !["foregroundDeletion", "orphan"].includes(name),
    );
    if (options.propagation === "Foreground") kept.push("foregroundDeletion");
    if (options.propagation === "Orphan") kept.push("orphan");
    metadata.finalizers = kept;
    if (kept.length === 0) delete metadata.finalizers;
  }
  if (resource.kind === "Namespace") object.status = { ...object.status, phase: "Terminating" };
  const before = metadata.deletionGracePeriodSeconds;
  let grace = resource.kind === "Pod" ? graceOf(object, options) : 0;
  // A later delete may shorten the time and never lengthens it. Source: docs, "Pod Lifecycle" (forced termination).
  if (before !== undefined && metadata.deletionTimestamp) grace = Math.min(grace, before);
  if (!metadata.deletionTimestamp || grace !== before) {
    metadata.deletionTimestamp = `${new Date(Date.now() + grace * 1000).toISOString().slice(0, 19)}Z`;
  }
  metadata.deletionGracePeriodSeconds = grace;
  if (resource.generation && before === undefined)
    metadata.generation = (metadata.generation ?? 1) + 1;
};

/** A pod without a node, or whose containers have ended, has nothing to wait for. */
const graceOf = ({ spec, status }: KubeObject, { gracePeriodSeconds }: DeleteOptions): number => {
  if (!spec?.nodeName || ["Succeeded", "Failed"].includes(status?.phase)) return 0;
  return gracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? GRACE_SECONDS;
};

const isFinished = (resource: Resource, { metadata, spec }: KubeObject): boolean =>
  (metadata.finalizers ?? []).length === 0 &&
  (resource.kind !== "Namespace" || (spec?.finalizers ?? []).length === 0) &&
  (resource.kind !== "Pod" || (metadata.deletionGracePeriodSeconds ?? 0) === 0);
