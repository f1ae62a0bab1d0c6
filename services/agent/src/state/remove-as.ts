/**
 * Deletes a run's files with the rights of the run's user. The run's code may replace folders by links during the
 * deletion: a process of root would follow them anywhere, but this one can delete only what the run itself could.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, rmdirSync } from "node:fs";
import { limits } from "../limits.ts";
import type { Owner } from "./run-user.ts";

/**
 * Folders that their owner ($2) has locked are opened first: each pass opens folders that the previous one could not
 * enter, until a pass changes nothing. No program in this script follows a link.
 */
const script = `
before=
while now=$(find "$1" -type d ! -perm -u=rwx -user "$2" -exec chmod u+rwx {} + -print 2>/dev/null | cksum)
  [ "$now" != "$before" ]
do before=$now; done
rm -rf -- "$1" 2>/dev/null`;

/**
 * Removes a folder that the user owns, with all its content; a missing folder counts as removed. The folder's parent
 * may belong to the agent, where the user cannot remove it. Throws if files are left, or if it takes too long: the next
 * call continues from there.
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
  // Removes only an empty folder, and no link.
  if (isThere(path)) rmdirSync(path);
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
