/** The folders of a run with a user of its own: what is the run's, what is the agent's, and who may pass. */
import { chmodSync, lchownSync, lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { names } from "../state/layout.ts";
import type { Owner } from "./run-user.ts";

/** Others pass through to what is theirs; only the agent sees what is in it. */
const passable = 0o711;

export function letPass(folder: string): void {
  chmodSync(folder, passable);
}

/** Hands over the folders of a run that nobody has seen yet: they are empty, and so is what they are given with. */
export function giveFolders(runFolder: string, owner: Owner): void {
  for (const name of [names.home, names.tmp]) mkdirSync(join(runFolder, name), { mode: 0o700 });
  for (const name of [names.run, names.home, names.tmp]) give(join(runFolder, name), owner);
  letPass(runFolder);
}

/** A folder of the agent's making, in one of the agent's: the run cannot have put a link in its place. */
export function give(folder: string, { uid, gid }: Owner): void {
  lchownSync(folder, uid, gid);
}

/**
 * The user of a run by its folder, which the agent has made and only the agent can replace; null for the agent's own.
 */
export function ownerOfFolder(runDir: string): Owner | null {
  const found = lstatSync(runDir, { throwIfNoEntry: false });
  if (found === undefined || found.uid === process.getuid?.()) return null;
  return { uid: found.uid, gid: found.gid };
}

/** The variables that programs read in the place of an entry in /etc/passwd, which the user has none of. */
export function variablesOf(
  runFolder: string,
  experiment: string,
): Readonly<Record<string, string>> {
  const name = `trainyard-${experiment}`;
  return {
    HOME: join(runFolder, names.home),
    TMPDIR: join(runFolder, names.tmp),
    USER: name,
    LOGNAME: name,
  };
}
