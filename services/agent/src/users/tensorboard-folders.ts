/** The folders of TensorBoard files that the runs of all users share. */
import { closeSync, constants, fchmodSync, fstatSync, mkdirSync, openSync } from "node:fs";
import { withinRun } from "../state/run-file.ts";

/**
 * The mode of a storage folder: every user may add a folder, which gets the storage's group, and nobody can remove
 * another's. The SDK flushes the storage folder after adding one, and so must be able to open it.
 */
export const storageMode = 0o3777;

const openFolder = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Makes `tensorboard/<log>/experiment` in a storage that has the shared folder `tensorboard`, so that no run owns a
 * folder above those of other experiments. A folder that another user has made there is left as it is, and no link is
 * followed: a container that mounts the storage may put one there at any moment. Errors are ignored: a run without
 * TensorBoard files needs none of these folders, and the SDK names the folder that it cannot make.
 */
export function makeTensorBoardFolders(storage: string, log: string): void {
  if (storage === "" || log === "") return;
  try {
    withinRun(storage, "tensorboard", (shared) => {
      const { mode, uid } = statOf(shared);
      if ((mode & 0o1000) !== 0 && isShared(shared, log, uid)) {
        withinRun(shared, log, (path) => isShared(path, "experiment", uid));
      }
    });
  } catch {
    // The run does without.
  }
}

/** Makes a folder that is shared, too. Returns whether the one there is the agent's, or the owner's of the storage. */
function isShared(above: string, name: string, owner: number): boolean {
  const path = `${above}/${name}`;
  let isMade = true;
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch {
    isMade = false;
  }
  const folder = openSync(path, openFolder);
  try {
    const { uid } = fstatSync(folder);
    const isOwn = uid === owner || uid === process.getuid?.();
    if (isMade && isOwn) fchmodSync(folder, storageMode);
    return isOwn;
  } finally {
    closeSync(folder);
  }
}

function statOf(folder: string) {
  const opened = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return fstatSync(opened);
  } finally {
    closeSync(opened);
  }
}
