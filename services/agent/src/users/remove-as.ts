/**
 * Deletes what a run made with the rights of the run's user. The run's code may exchange folders for links while they
 * are deleted: a process of root would follow them to anywhere, this one can delete nothing that the run could not.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, rmdirSync } from "node:fs";
import { limits } from "../limits.ts";
import type { Owner } from "./run-user.ts";

/**
 * Folders that their owner ($2) has locked are opened first: each pass opens what the one before could not see, until
 * one changes nothing. No program here follows a link.
 */
const script = `
before=
while now=$(find "$1" -type d ! -perm -u=rwx -user "$2" -exec chmod u+rwx {} + -print 2>/dev/null | cksum)
  [ "$now" != "$before" ]
do before=$now; done
rm -rf -- "$1" 2>/dev/null`;

/**
 * Removes a folder that the user owns, with all that is in it; one that is not there counts as removed. The folder
 * itself may be in one of the agent's, where the user removes nothing. Throws if something of it is left, or if it
 * takes too long: the next call goes on from there.
 */
export async function removeAs({ uid, gid }: Owner, path: string): Promise<void> {
  if (!isThere(path)) return;
  const child = spawn("/bin/sh", ["-c", script, "sh", path, String(uid)], {
    uid,
    gid,
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    stdio: "ignore",
    detached: true,
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  }, limits.removeFolderMs);
  try {
    await once(child, "close");
  } finally {
    clearTimeout(timer);
  }
  if (isLate) throw new Error(`${path} was not removed within ${limits.removeFolderMs / 1_000} s`);
  // Removes no folder that holds something, and no link.
  if (isThere(path)) rmdirSync(path);
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
