/** The folders of a run with a user of its own: those of the run, those of the agent, and their modes. */
import { chmodSync, existsSync, lchownSync, lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { names } from "./layout.ts";
import type { Owner } from "./run-user.ts";

/** Other users may pass through to their own folders; only the agent may list the folder. */
const passable = 0o711;

export function letPass(folder: string): void {
  chmodSync(folder, passable);
}

/** Gives the folders of a new run to its user: they are empty, and no process has used them. */
export function giveFolders(runFolder: string, owner: Owner): void {
  for (const name of [names.home, names.tmp]) mkdirSync(join(runFolder, name), { mode: 0o700 });
  for (const name of [names.run, names.home, names.tmp]) give(join(runFolder, name), owner);
  // Only runs that keep their work have one.
  const saves = join(runFolder, names.saves);
  if (existsSync(saves)) give(saves, owner);
  letPass(runFolder);
}

/** The agent made the folder inside of its own, so the run cannot have replaced it by a link. */
export function give(folder: string, { uid, gid }: Owner): void {
  lchownSync(folder, uid, gid);
}

/**
 * The user of a run, read from its folder, which only the agent can make and replace; null for the agent's own user.
 */
export function ownerOfFolder(runDir: string): Owner | null {
  const found = lstatSync(runDir, { throwIfNoEntry: false });
  if (found === undefined || found.uid === process.getuid?.()) return null;
  return { uid: found.uid, gid: found.gid };
}

/**
 * The variables that programs use instead of an entry in /etc/passwd, which the user lacks. `of` is the id of the
 * experiment or of the task.
 */
export function variablesOf(runFolder: string, of: string): Readonly<Record<string, string>> {
  const name = `trainyard-${of}`;
  return {
    HOME: join(runFolder, names.home),
    TMPDIR: join(runFolder, names.tmp),
    USER: name,
    LOGNAME: name,
  };
}
