/** Fetches and unpacks the packed code of a run. */
import type { RunFolder } from "../state/run-folder.ts";
import type { CodeArchives, OnWait } from "./code-archives.ts";
import { BadArchive, unpack } from "./unpack.ts";

/** Returns a new folder of the run's user with the code; an empty one for a run without code. */
export async function unpackCode(
  folder: RunFolder,
  contexts: CodeArchives,
  onProgress: () => void,
  onWait: OnWait,
  signal: AbortSignal,
): Promise<string> {
  const { contextDigest } = folder.launch;
  if (contextDigest === "") return folder.giveWork(folder.newWork());
  for (let attempt = 1; ; attempt += 1) {
    const packed = await contexts.packed(contextDigest, signal, onWait);
    const work = folder.newWork();
    try {
      await unpack(packed, work, onProgress, folder.owner);
      return folder.giveWork(work);
    } catch (error) {
      // The packed file may have been damaged on disk since it was verified; the second attempt downloads it.
      if (attempt > 1 || !(error instanceof BadArchive)) throw error;
      await contexts.drop(contextDigest);
    }
  }
}
