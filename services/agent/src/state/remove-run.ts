/**
 * Removes the folders of a run, each as the user that it was given to. Throws for files that this user cannot remove.
 */
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { names } from "./layout.ts";
import { removeAs } from "./remove-as.ts";
import type { Owner } from "./run-user.ts";

const all = { recursive: true, force: true } as const;

/** Removes the folder in which the run started, its TensorBoard files and its /tmp. */
export async function removeWorkOf(runFolder: string, owner: Owner | null): Promise<void> {
  const work = join(runFolder, names.work);
  if (owner !== null && existsSync(work)) {
    // A folder that was not given to the run's user still belongs to the agent, and no other user has entered it.
    const given = readdirSync(work).map((name) => join(work, name));
    for (const path of given) if (lstatSync(path).uid === owner.uid) await removeAs(owner, path);
  }
  await removeOwn(work);
  await rm(join(runFolder, names.tensorboard), all);
  const tmp = join(runFolder, names.tmp);
  await (owner === null ? removeOwn(tmp) : removeAs(owner, tmp));
}

/** Removes a folder of the agent's own user, in which a run may have left read-only folders. */
async function removeOwn(path: string): Promise<void> {
  try {
    await rm(path, all);
  } catch (error) {
    const { getuid, getgid } = process;
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" || getuid === undefined || getgid === undefined) throw error;
    await removeAs({ uid: getuid(), gid: getgid() }, path);
  }
}

/** Removes the other folders that were given to the run's user. */
export async function removeOtherFoldersOf(runFolder: string, owner: Owner): Promise<void> {
  for (const name of [names.home, names.run, names.saves]) {
    await removeAs(owner, join(runFolder, name));
  }
}
