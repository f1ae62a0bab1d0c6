/** The folders of TensorBoard files that the runs of all users share. */
import { chmod, lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * The mode of a storage folder: every user may add a folder, which gets the storage's group, and nobody can remove
 * another's. The SDK flushes the storage folder after adding one, and so must be able to open it.
 */
export const storageMode = 0o3777;

/**
 * Makes `tensorboard/<log>/experiment` in a storage that has the shared folder `tensorboard`, so that no run owns a
 * folder above those of other experiments. A folder that another user has made there is left as it is. Errors are
 * ignored: a run without TensorBoard files needs none of these folders, and the SDK names the folder that it cannot
 * make.
 */
export async function makeTensorBoardFolders(storage: string, log: string): Promise<void> {
  if (storage === "" || log === "") return;
  let folder = join(storage, "tensorboard");
  const shared = await lstat(folder).catch(() => null);
  if (shared?.isDirectory() !== true || (shared.mode & 0o1000) === 0) return;
  for (const name of [log, "experiment"]) {
    folder = join(folder, name);
    try {
      await mkdir(folder, { mode: 0o700 });
      await chmod(folder, storageMode);
    } catch {
      const there = await lstat(folder).catch(() => null);
      const isOwn = there?.uid === shared.uid || there?.uid === process.getuid?.();
      if (there?.isDirectory() !== true || !isOwn) return;
    }
  }
}
