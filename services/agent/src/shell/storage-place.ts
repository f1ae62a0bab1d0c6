/**
 * A folder of checkpoints on this host. Containers that mount it may put a link in the place of any folder in it, at
 * any moment, and the agent may be root. So what the agent itself does there follows links only where they are the
 * operator's, and names everything below through open folders.
 */
import { closeSync, constants, openSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { directoryDisk, markStorage } from "@trainyard/blob";
import { hasProc } from "@trainyard/kernel/process-identity";
import { withinRun } from "../state/run-file.ts";

export type StoragePlace = {
  /** The folder that only the operator can replace. */
  readonly trusted: string;
  /** The path of the storage in that folder; empty for the folder itself. */
  readonly below: string;
};

/**
 * The place of a storage. Containers mount the whole of the agent's own checkpoint folder, and of others the folder of
 * the storage itself.
 */
export function storagePlace(root: string, checkpointDir: string): StoragePlace {
  const own = resolve(checkpointDir);
  const below = relative(own, root);
  const isOwn = checkpointDir !== "" && below.split("/")[0] !== "..";
  return isOwn ? { trusted: own, below } : { trusted: root, below: "" };
}

/** Removes the folder of a checkpoint; an absent one counts as removed. A link in its place is removed itself. */
export async function removeCheckpoint(place: StoragePlace, checkpoint: string): Promise<void> {
  await directoryDisk.removeFolder(place.trusted, join(place.below, checkpoint));
}

/** Returns the id of a storage, and marks it if it has none; undefined if the agent cannot. */
export async function markPlace({ trusted, below }: StoragePlace): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY;
  const folder = withinRun(trusted, below, (path) => openSync(path, flags));
  if (folder === null) return undefined;
  try {
    return await markStorage(hasProc ? `/proc/self/fd/${folder}` : join(trusted, below));
  } catch {
    // Nobody judges the storage then until it is adopted.
    return undefined;
  } finally {
    closeSync(folder);
  }
}
