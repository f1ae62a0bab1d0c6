/** Opens the object store that a checkpoint_storage section names. */
import { type Clock, Fault } from "@trainyard/kernel";
import { type CheckpointStorageSection, type StorePatience, textIn } from "../storage-kind.ts";
import { objectStoreKind, type StorageCredentials, type StoreSettings } from "../storage-kinds.ts";
import type { ObjectStore } from "./port.ts";

export type ObjectStoreSettings = {
  readonly clock: Clock;
  /** The platform's credentials; by default each client searches the places of its vendor's tools. */
  readonly credentials?: StorageCredentials;
  /** The operator's settings of each kind. */
  readonly kinds?: StoreSettings;
  /** Timeout and attempts; default: the adapter's. */
  readonly patience?: StorePatience;
  /** The validity of planned requests; default: the adapter's. */
  readonly planSeconds?: number;
};

/** Returns null for a section that names no object store. An adapter is loaded on first use. */
export async function openObjectStore(
  section: CheckpointStorageSection,
  { clock, credentials, kinds, patience, planSeconds }: ObjectStoreSettings,
): Promise<ObjectStore | null> {
  const found = objectStoreKind(section);
  if (found === null) return null;
  const [name, kind] = found;
  const bucket = textIn(section[kind.bucketKey]);
  if (bucket === null) {
    throw new Fault("unknown_storage", "the storage names no bucket", { retry: "never" });
  }
  const prefix = textIn(section["prefix"]);
  const endpoint = kind.endpointKey === null ? null : textIn(section[kind.endpointKey]);
  const place = {
    ...{ clock, bucket, ...patience },
    ...(prefix === null ? {} : { prefix }),
    ...(endpoint === null ? {} : { endpoint }),
    ...(planSeconds === undefined ? {} : { planSeconds }),
  };
  return kind.open(place, kinds?.[name] ?? {}, credentials?.[name]);
}
