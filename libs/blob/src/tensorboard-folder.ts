/**
 * The TensorBoard files of an experiment: `tensorboard/<log>/experiment/<experiment>/trial/<trial>/…` below the root of
 * its storage. The log is the id of its first event: two clusters may have an experiment of the same number.
 */
import { join } from "node:path";
import { Fault } from "@trainyard/kernel";
import { checkpointRoot } from "./checkpoint-folder.ts";
import type { CheckpointStorageSection } from "./storage-kind.ts";
import { removeObjects } from "./objects/checkpoint-objects.ts";
import type { ObjectStore } from "./objects/port.ts";
import type { StorageDisk } from "./storage-disk.ts";

/** The folder of an experiment, relative to the root of its storage. */
export function tensorBoardFolder(log: string, experiment: string): string {
  return `tensorboard/${log}/experiment/${experiment}`;
}

/**
 * Removes the TensorBoard folder of an experiment, if any. The caller has checked that this host sees the right
 * storage. A folder that cannot be removed is a Fault with retry "later", so that other experiments are not held up.
 */
export async function removeTensorBoardFolder(
  storage: CheckpointStorageSection,
  log: string,
  experiment: string,
  disk: Pick<StorageDisk, "removeFolder">,
): Promise<void> {
  const root = checkpointRoot(storage);
  if (root === null) return;
  const folder = tensorBoardFolder(log, experiment);
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
  log: string,
  experiment: string,
): Promise<void> {
  const prefix = `${tensorBoardFolder(log, experiment)}/`;
  await store.abortUploads(prefix);
  await removeObjects(store, prefix, () => true);
}
