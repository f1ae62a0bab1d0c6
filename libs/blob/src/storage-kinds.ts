/**
 * The table of storage kinds, by the `type` of a checkpoint_storage section. A new kind is a row here, the folder with
 * its code, and its schema in libs/experiment-config.
 */
import { Fault } from "@trainyard/kernel";
import { directory, sharedFs } from "./directory-kinds.ts";
import { gcs } from "./objects/gcs/kind.ts";
import { s3 } from "./objects/s3/kind.ts";
import type {
  CheckpointStorageSection,
  DirectoryKind,
  ObjectStoreKind,
  Variables,
} from "./storage-kind.ts";

export const storageKinds = {
  directory,
  shared_fs: sharedFs,
  s3,
  gcs,
} as const satisfies Readonly<Record<string, DirectoryKind | ObjectStoreKind>>;

type Kinds = typeof storageKinds;
type StoreName = {
  [Name in keyof Kinds]: Kinds[Name] extends ObjectStoreKind ? Name : never;
}[keyof Kinds];

/** The operator's settings by the kind of store. */
export type StoreSettings = { readonly [Name in StoreName]?: ReturnType<Kinds[Name]["settings"]> };
/** The platform's credentials by the kind of store. */
export type StorageCredentials = {
  readonly [Name in StoreName]?: ReturnType<Kinds[Name]["credentials"]>;
};

const rows: readonly (readonly [string, DirectoryKind | ObjectStoreKind])[] =
  Object.entries(storageKinds);
const stores = new Map(
  rows.flatMap(([name, kind]) => ("scheme" in kind ? [[name as StoreName, kind] as const] : [])),
);

/** Returns the kind of a section's object store; null if the section names none. */
export function objectStoreKind(
  section: CheckpointStorageSection,
): readonly [StoreName, ObjectStoreKind] | null {
  const name = section["type"] as StoreName;
  const kind = stores.get(name);
  return kind === undefined ? null : [name, kind];
}

/** Returns the kind of a section's directory; null if the section names none. */
export function directoryKind(section: CheckpointStorageSection): DirectoryKind | null {
  const kind = rows.find(([name]) => name === section["type"])?.[1];
  return kind !== undefined && "root" in kind ? kind : null;
}

/** Returns the kind of object store whose addresses have a scheme. */
export function kindOfScheme(
  scheme: string | undefined,
): readonly [StoreName, ObjectStoreKind] | null {
  return [...stores].find(([, kind]) => kind.scheme === scheme) ?? null;
}

/** The form of an object store's address, for messages. */
export const addressForms = [...stores.values()]
  .map(({ scheme }) => `${scheme}://bucket/prefix`)
  .join(" or ");

/** Reads the operator's settings of every kind. Throws a Fault that names a wrong variable. */
export function storeSettings(variables: Variables): StoreSettings {
  try {
    return Object.fromEntries([...stores].map(([name, kind]) => [name, kind.settings(variables)]));
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new Fault("invalid_environment", `environment variables are wrong: ${problem}`, {
      retry: "never",
      cause,
    });
  }
}

/** Reads each kind's mapping in the credentials file. */
export function storageCredentials(
  mappingAt: (name: string) => Readonly<Record<string, unknown>> | null,
): StorageCredentials {
  const read = [...stores].flatMap(([name, kind]) => {
    const mapping = mappingAt(name);
    return mapping === null ? [] : [[name, kind.credentials(mapping)] as const];
  });
  return Object.fromEntries(read);
}
