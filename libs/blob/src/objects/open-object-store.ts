/** A checkpoint_storage section → the object store that it names. */
import { type Clock, Fault } from "@trainyard/kernel";
import type { CheckpointStorageSection } from "../checkpoint-folder.ts";
import type { StorageCredentials } from "./credentials.ts";
import type { ObjectStore } from "./port.ts";

/** `silenceMs` of every attempt, and the attempts of one call, the first included. */
export type StorePatience = { readonly silenceMs: number; readonly attemptsMax: number };

export type ObjectStoreSettings = {
  readonly clock: Clock;
  /** The platform's; without them the client looks where its vendor's tools do. */
  readonly credentials?: StorageCredentials;
  readonly region?: string;
  /** That of the adapter unless given. */
  readonly patience?: StorePatience;
};

/** Null for a section that names no object store. The adapter is loaded when it is needed. */
export async function openObjectStore(
  section: CheckpointStorageSection,
  { clock, credentials, region, patience }: ObjectStoreSettings,
): Promise<ObjectStore | null> {
  if (section["type"] !== "s3") return null;
  const { openS3Store } = await import("./s3/store.ts");
  const bucket = textAt(section, "bucket");
  if (bucket === null) {
    throw new Fault("unknown_storage", "the storage names no bucket", { retry: "never" });
  }
  const endpoint = textAt(section, "endpoint_url");
  const prefix = textAt(section, "prefix");
  return openS3Store({
    clock,
    bucket,
    ...(prefix === null ? {} : { prefix }),
    ...(endpoint === null ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(credentials?.s3 === undefined ? {} : { credentials: credentials.s3 }),
    ...patience,
  });
}

function textAt(section: CheckpointStorageSection, key: string): string | null {
  const value = section[key];
  return typeof value === "string" && value !== "" ? value : null;
}
