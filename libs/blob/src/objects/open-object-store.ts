/** Opens the object store that a checkpoint_storage section names. */
import { type Clock, Fault } from "@trainyard/kernel";
import type { CheckpointStorageSection } from "../checkpoint-folder.ts";
import type { StorageCredentials } from "./credentials.ts";
import type { ObjectStore } from "./port.ts";
import type { S3Encryption } from "./s3/options.ts";

/** `silenceMs` is the timeout of each attempt; `attemptsMax` counts all attempts of one call. */
export type StorePatience = { readonly silenceMs: number; readonly attemptsMax: number };

export type ObjectStoreSettings = {
  readonly clock: Clock;
  /** The platform's credentials; by default each client searches the places of its vendor's tools. */
  readonly credentials?: StorageCredentials;
  /** The region of S3. */
  readonly region?: string;
  readonly s3Encryption?: S3Encryption;
  readonly gcsKmsKey?: string;
  /** The endpoint of Google Cloud Storage, if it is not Google's. */
  readonly gcsEndpoint?: string;
  /** Timeout and attempts; default: the adapter's. */
  readonly patience?: StorePatience;
};

/** Returns null for a section that names no object store. An adapter is loaded on first use. */
export async function openObjectStore(
  section: CheckpointStorageSection,
  settings: ObjectStoreSettings,
): Promise<ObjectStore | null> {
  const { clock, credentials, region, s3Encryption, gcsKmsKey, gcsEndpoint, patience } = settings;
  const type = section["type"];
  if (type !== "s3" && type !== "gcs") return null;
  const bucket = textAt(section, "bucket");
  if (bucket === null) {
    throw new Fault("unknown_storage", "the storage names no bucket", { retry: "never" });
  }
  const prefix = textAt(section, "prefix");
  const common = { clock, bucket, ...(prefix === null ? {} : { prefix }), ...patience };
  if (type === "gcs") {
    const { openGcsStore } = await import("./gcs/store.ts");
    return openGcsStore({
      ...common,
      ...(gcsEndpoint === undefined ? {} : { endpoint: gcsEndpoint }),
      ...(gcsKmsKey === undefined ? {} : { kmsKey: gcsKmsKey }),
      ...(credentials?.gcs === undefined ? {} : { credentials: credentials.gcs }),
    });
  }
  const { openS3Store } = await import("./s3/store.ts");
  const endpoint = textAt(section, "endpoint_url");
  return openS3Store({
    ...common,
    ...(endpoint === null ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(s3Encryption === undefined ? {} : { encryption: s3Encryption }),
    ...(credentials?.s3 === undefined ? {} : { credentials: credentials.s3 }),
  });
}

function textAt(section: CheckpointStorageSection, key: string): string | null {
  const value = section[key];
  return typeof value === "string" && value !== "" ? value : null;
}
