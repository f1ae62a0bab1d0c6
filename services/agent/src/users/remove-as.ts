/**
 * Deletes what a run made with the rights of the run's user. The run's code may exchange folders for links while they are
 * deleted: a process of root would follow them to anywhere, this one can delete nothing that the run could not.
 */
import { spawnSync } from "node:child_process";
import { lstatSync, rmdirSync } from "node:fs";
import type { Owner } from "./run-user.ts";

/** A folder that its owner has locked is opened first. Neither program follows a link. */
const script = `find "$1" -type d ! -perm -u=rwx -exec chmod u+rwx {} ';' 2>/dev/null; rm -rf -- "$1" 2>/dev/null`;

/**
 * Removes a folder that the user owns, with all that is in it; one that is not there counts as removed. The folder itself may
 * be in one of the agent's, where the user removes nothing. Throws if something of it is left.
 */
export function removeAs({ uid, gid }: Owner, path: string): void {
  if (!isThere(path)) return;
  const { error } = spawnSync("/bin/sh", ["-c", script, "sh", path], {
    uid,
    gid,
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    stdio: "ignore",
  });
  if (error !== undefined) throw error;
  // Removes no folder that holds something, and no link.
  if (isThere(path)) rmdirSync(path);
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
