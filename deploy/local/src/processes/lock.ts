/**
 * A lock on a file by flock(2): it belongs to the open file, so this process and all that inherit the file hold it
 * together. The kernel releases it when the last of them has ended, however that happened, so no lock is ever stale. A
 * copy of the file is not locked, and a renamed file stays locked.
 */
import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { ClusterError } from "../cluster-error.ts";
import { waitUntil } from "./wait.ts";

/** Disposing of it closes this process's file; the lock is free once no process that inherited the file is left. */
export type Lock = Disposable & { readonly file: number };

/** Returns null if other processes hold the lock. */
export function tryLock(path: string): Lock | null {
  const file = openSync(path, "a", 0o600);
  // Node cannot call flock(2), and the program locks the open file that it inherits, as shell scripts do it.
  const done = spawnSync("flock", ["-n", "3"], { stdio: ["ignore", "ignore", "ignore", file] });
  if (done.status === 0) return { file, [Symbol.dispose]: () => closeSync(file) };
  closeSync(file);
  if (done.error === undefined) return null;
  throw new ClusterError(
    "no_flock",
    `The program flock could not be run (${done.error.message}): install util-linux.`,
    { cause: done.error },
  );
}

/** Waits until this process has the lock; returns null if it is not free within the limit. */
export async function waitForLock(
  path: string,
  limitMs: number,
  signal?: AbortSignal,
): Promise<Lock | null> {
  let lock: Lock | null = null;
  await waitUntil(
    () => {
      lock = tryLock(path);
      return lock !== null;
    },
    limitMs,
    signal,
  );
  return lock;
}

/** Whether any process holds the lock. */
export function isLocked(path: string): boolean {
  using lock = tryLock(path);
  return lock === null;
}
