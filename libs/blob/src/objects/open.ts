/** Opens the object store that a checkpoint_storage section names, with the platform's own credentials. */
import { type Clock, Fault } from "@trainyard/kernel";
import type { CheckpointStorageSection } from "../checkpoint-folder.ts";
import type { ObjectStore } from "./port.ts";
import { openS3Store } from "./s3/index.ts";

/** A Fault `storage_unsupported` for a type that is no object store. */
export function openObjectStore(storage: CheckpointStorageSection, clock: Clock): ObjectStore {
  const { type, bucket, prefix, endpoint_url: endpoint } = storage;
  if (type !== "s3" || typeof bucket !== "string") {
    const detail = `checkpoints cannot be stored in a ${String(type)} yet`;
    throw new Fault("storage_unsupported", detail, { retry: "never" });
  }
  return openS3Store({
    bucket,
    clock,
    ...(typeof prefix === "string" && { prefix }),
    ...(typeof endpoint === "string" && { endpoint }),
  });
}
