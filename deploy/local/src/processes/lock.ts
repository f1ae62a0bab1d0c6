/**
 * A lock with one holder per folder, also after kill -9 of the holder.
 *
 * The lock is a row of files lock.1, lock.2, …; the file with the highest number names the holder, by process identity.
 * While that process lives, all other contenders are refused. When it is dead, the next number is created with link(2),
 * which exactly one contender can do. A slow contender may create a number below the highest, since the row has grown
 * meanwhile: it detects this and starts over. So a stale lock is never removed to be taken, and the usual race between
 * two removers does not exist. For the same reason numbers never start again: a released lock stays as a file that
 * names no process. A file also names its folder, so that the copy of a held lock is free.
 */
import { linkSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readText, writeAtomically } from "../home/atomic-file.ts";
import { folderIdentity } from "../home/folder-identity.ts";
import { errorCode } from "../cluster-error.ts";
import { identityOf, isAlive, type ProcessIdentity } from "./process-identity.ts";
import { waitUntil } from "./wait.ts";

export type LockResult =
  | { readonly held: true; readonly lock: Disposable }
  | { readonly held: false; readonly holder: ProcessIdentity };

/** Takes the lock for this process, or returns its holder. */
export function tryLock(path: string): LockResult {
  const self = identityOf(process.pid);
  if (self === null) throw new Error("this process cannot be identified");
  for (;;) {
    const top = highest(path);
    const holder = top === 0 ? null : readHolder(numbered(path, top));
    if (holder !== null && isAlive(holder)) return { held: false, holder };
    const mine = numbered(path, top + 1);
    if (!createWith(mine, self)) continue;
    if (highest(path) !== top + 1) {
      rmSync(mine, { force: true });
      continue;
    }
    for (const number of numbersOf(path)) {
      if (number <= top) rmSync(numbered(path, number), { force: true });
    }
    return { held: true, lock: { [Symbol.dispose]: () => writeAtomically(mine, "null\n") } };
  }
}

/** Waits until this process has the lock; returns null if it is not free within the limit. */
export async function waitForLock(
  path: string,
  limitMs: number,
  signal?: AbortSignal,
): Promise<Disposable | null> {
  let lock: Disposable | null = null;
  await waitUntil(
    () => {
      const tried = tryLock(path);
      if (tried.held) lock = tried.lock;
      return tried.held;
    },
    limitMs,
    signal,
  );
  return lock;
}

/** The present holder of the lock; null when it has none. */
export function lockHolder(path: string): ProcessIdentity | null {
  const top = highest(path);
  const holder = top === 0 ? null : readHolder(numbered(path, top));
  return holder !== null && isAlive(holder) ? holder : null;
}

function numbered(path: string, number: number): string {
  return `${path}.${number}`;
}

function numbersOf(path: string): readonly number[] {
  const prefix = `${basename(path)}.`;
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix) && /^[0-9]+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)));
}

function highest(path: string): number {
  return Math.max(0, ...numbersOf(path));
}

/** The content of a lock file, with the path and the identity of its folder; earlier versions named none. */
type Held = ProcessIdentity & { readonly path?: string; readonly folder?: string | null };

/** Null when the lock was released, its file has just been removed, or it was copied from another folder. */
function readHolder(file: string): ProcessIdentity | null {
  const text = readText(file);
  if (text === null) return null;
  try {
    const held = JSON.parse(text) as Held | null;
    const path = dirname(file);
    // Some file systems change the inodes of folders, and a home may be renamed, but not both at once.
    const isOwn =
      held?.folder === undefined || held.path === path || held.folder === folderIdentity(path);
    return isOwn ? held : null;
  } catch {
    // A lock file is complete when it is linked; only a power cut leaves half a file, and it has ended the holder too.
    return null;
  }
}

function createWith(file: string, self: ProcessIdentity): boolean {
  const draft = join(dirname(file), `.lock-draft-${self.pid}`);
  const path = dirname(file);
  const held: Held = { ...self, path, folder: folderIdentity(path) };
  writeFileSync(draft, JSON.stringify(held), { mode: 0o600 });
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
