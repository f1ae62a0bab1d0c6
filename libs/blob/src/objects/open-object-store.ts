/** A checkpoint_storage section → the object store that it names. */
import { type Clock, Fault } from "@trainyard/kernel";
import type { CheckpointStorageSection } from "../checkpoint-folder.ts";
import type { StorageCredentials } from "./credentials.ts";
import type { ObjectStore } from "./port.ts";
import type { S3Encryption } from "./s3/options.ts";

/** `silenceMs` of every attempt, and the attempts of one call, the first included. */
export type StorePatience = { readonly silenceMs: number; readonly attemptsMax: number };

export type ObjectStoreSettings = {
  readonly clock: Clock;
  /** The platform's; without them the client looks where its vendor's tools do. */
  readonly credentials?: StorageCredentials;
  /** The region of S3. */
  readonly region?: string;
  readonly s3Encryption?: S3Encryption;
  readonly gcsKmsKey?: string;
  /** The endpoint of Google Cloud Storage, where it is not Google's. */
  readonly gcsEndpoint?: string;
  /** That of the adapter unless given. */
  readonly patience?: StorePatience;
};

/** Null for a section that names no object store. An adapter is loaded when it is needed. */
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
