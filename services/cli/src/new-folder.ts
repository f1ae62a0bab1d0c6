/** Creates the folder of a download in one step: it exists only when it is complete. */
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { callerPath } from "./environment.ts";
import { UsageError } from "./usage-error.ts";

/** Fills a temporary folder with `write` and renames it. A folder that has files is refused. */
export async function writeFolder(
  shown: string,
  write: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = callerPath(shown);
  await requireFree(folder, shown);
  await mkdir(dirname(folder), { recursive: true });
  const partial = await mkdtemp(join(dirname(folder), `.${basename(folder)}-`));
  try {
    await write(partial);
    // The rename replaces an empty folder, and fails for anything else.
    await rename(partial, folder);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

async function requireFree(folder: string, shown: string): Promise<void> {
  try {
    if ((await readdir(folder)).length === 0) return;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw new UsageError(`${shown} is not a readable folder: name another.`);
  }
  throw new UsageError(`${shown} has files already: name another folder.`);
}
