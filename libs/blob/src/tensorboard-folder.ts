/**
 * The TensorBoard files of an experiment: `tensorboard/experiment/<experiment>/trial/<trial>/…` below the root of its
 * storage.
 */
import { join } from "node:path";
import { Fault } from "@trainyard/kernel";
import { checkpointRoot } from "./checkpoint-folder.ts";
import type { CheckpointStorageSection } from "./storage-kind.ts";
import { removeObjects } from "./objects/checkpoint-objects.ts";
import type { ObjectStore } from "./objects/port.ts";
import type { StorageDisk } from "./storage-disk.ts";

const below = ["tensorboard", "experiment"] as const;

/**
 * Removes the TensorBoard folder of an experiment, if any. The caller has checked that this host sees the right
 * storage. A folder that cannot be removed is a Fault with retry "later", so that other experiments are not held up.
 */
export async function removeTensorBoardFolder(
  storage: CheckpointStorageSection,
  experiment: string,
  disk: Pick<StorageDisk, "removeFolder">,
): Promise<void> {
  const root = checkpointRoot(storage);
  if (root === null) return;
  const folder = [...below, experiment].join("/");
  try {
    await disk.removeFolder(root, folder);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const detail = `the TensorBoard folder ${join(root, folder)} cannot be removed: ${why}`;
    throw new Fault("tensorboard_not_removed", detail, { retry: "later", cause });
  }
}

/** Removes the TensorBoard objects of an experiment from an object store. */
export async function removeTensorBoardObjects(
  store: ObjectStore,
  experiment: string,
): Promise<void> {
  const prefix = `${[...below, experiment].join("/")}/`;
  await store.abortUploads(prefix);
  await removeObjects(store, prefix, () => true);
}
