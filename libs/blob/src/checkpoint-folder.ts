/**
 * The path of a checkpoint's files in a directory storage: `<root>/<uuid>`. All code that writes, verifies or deletes
 * these files uses this module.
 */
import { createHash } from "node:crypto";
import { isAbsolute, join, resolve } from "node:path";
import { assert, Fault, isCheckpointId } from "@trainyard/kernel";
import type { Removed } from "./remove-below.ts";
import type { StorageDisk } from "./storage-disk.ts";
import type { CheckpointStorageSection } from "./storage-kind.ts";
import { directoryKind } from "./storage-kinds.ts";
import { problemOfStorage } from "./storage-marker.ts";

/**
 * Returns the checkpoint_storage section for new checkpoints of an experiment, with an absolute path: relative paths
 * begin at `directory`. An experiment without the section gets `directory` itself. Writers and verifiers must use the
 * same path.
 */
export function checkpointStorage<Section extends CheckpointStorageSection>(
  configured: Section | null,
  directory: string,
): Section | { readonly type: string; readonly container_path: string } {
  if (configured === null) return { type: "directory", container_path: resolve(directory) };
  const key = directoryKind(configured)?.pathKey;
  const path = key === undefined ? undefined : configured[key];
  if (key === undefined || typeof path !== "string") return configured;
  return { ...configured, [key]: resolve(directory, path) };
}

/** Returns the absolute root of a storage; null for a storage that is no directory. */
export function checkpointRoot(storage: CheckpointStorageSection): string | null {
  const root = directoryKind(storage)?.root(storage) ?? null;
  return root !== null && isAbsolute(root) ? resolve(root) : null;
}

/** Returns a checkpoint's folder; null where `checkpointRoot` returns null. */
export function checkpointFolder(
  storage: CheckpointStorageSection,
  checkpoint: string,
): string | null {
  const root = checkpointRoot(storage);
  return root === null || !isCheckpointId(checkpoint) ? null : join(root, checkpoint);
}

/** Returns the id of the stream that records which storage is at a root: 32 hex digits, hashed from the path. */
export function storageStreamId(root: string): string {
  return createHash("sha256").update(root).digest("hex").slice(0, 32);
}

/**
 * An operator's statement (`yard storage adopt`) about a root: the id of the storage there, and the earlier ids that it
 * replaces.
 */
export type Adoption = { readonly id: string; readonly replaced: readonly string[] };

/**
 * Returns the id of the storage that contains a checkpoint: the declared id, unless it is empty or an adoption replaced
 * it. Empty if the storage is unknown.
 */
export function storageOfCheckpoint(declared: string | undefined, adoption: Adoption): string {
  const id = declared ?? "";
  return id === "" || adoption.replaced.includes(id) ? adoption.id : id;
}

/**
 * Removes a checkpoint's files and its folder from the storage with the given id; an absent folder counts as removed.
 * Throws a Fault if the root has another storage or its storage is unknown (see `problemOfStorage`): the files may
 * still exist.
 */
export async function removeCheckpointFolder(
  storage: CheckpointStorageSection,
  checkpoint: string,
  storageId: string,
  disk: Pick<StorageDisk, "seen" | "removeFolder">,
): Promise<void> {
  const root = checkpointRoot(storage);
  const folder = checkpointFolder(storage, checkpoint);
  if (root === null || folder === null) {
    throw new Fault("unknown_storage", `checkpoint ${checkpoint} has no directory`, {
      retry: "never",
    });
  }
  const look = async (): Promise<void> => {
    const problem = problemOfStorage(root, storageId, await disk.seen(root));
    if (problem !== null) throw notRemoved(folder, problem);
  };
  await look();
  try {
    await disk.removeFolder(root, checkpoint);
  } catch (cause) {
    throw notRemoved(folder, cause instanceof Error ? cause.message : String(cause), cause);
  }
  // A share that was unmounted during the removal still has its files.
  await look();
}

/**
 * Removes the files of a checkpoint whose paths match a pattern. Throws a Fault with retry "later" if the disk fails.
 */
export async function removeCheckpointFiles(
  storage: CheckpointStorageSection,
  checkpoint: string,
  globs: readonly string[],
  disk: Pick<StorageDisk, "removeFiles">,
): Promise<Removed> {
  const root = checkpointRoot(storage);
  const folder = checkpointFolder(storage, checkpoint);
  assert(root !== null && folder !== null, `checkpoint ${checkpoint} has a directory`);
  try {
    return await disk.removeFiles(root, checkpoint, globs);
  } catch (cause) {
    throw notRemoved(folder, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function notRemoved(folder: string, why: string, cause?: unknown): Fault {
  return new Fault("checkpoint_not_removed", `the folder ${folder} cannot be removed: ${why}`, {
    retry: "later",
    ...(cause === undefined ? {} : { cause }),
  });
}
