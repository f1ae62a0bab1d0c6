/** Files of runs in the host's /dev/shm that no process uses: those that killed runs have left. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../limits.ts";

/** The bytes of old files that no process maps or has open, and whose owners are among the users of runs. */
export function unusedBytes(
  folder: string,
  isOfRuns: (uid: number) => boolean,
  nowMs: number,
): number {
  const oldest = nowMs - limits.sharedMemoryAgeMs;
  const files = namesIn(folder).flatMap((name) => {
    const path = join(folder, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    const isLeft = found?.isFile() === true && isOfRuns(found.uid) && found.mtimeMs < oldest;
    return isLeft ? [{ path, bytes: found.blocks * 512 }] : [];
  });
  if (files.length === 0) return 0;
  const used = usedPaths(folder);
  return files.filter(({ path }) => !used.has(path)).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Processes of other users cannot be read, except by root; they use no files of runs. */
function usedPaths(folder: string): ReadonlySet<string> {
  const used = new Set<string>();
  for (const pid of namesIn("/proc").filter((name) => /^\d+$/.test(name))) {
    for (const line of textOf(`/proc/${pid}/maps`).split("\n")) {
      const at = line.indexOf(folder);
      if (at >= 0) used.add(line.slice(at));
    }
    for (const name of namesIn(`/proc/${pid}/fd`)) {
      const target = targetOf(`/proc/${pid}/fd/${name}`);
      if (target.startsWith(folder)) used.add(target);
    }
  }
  return used;
}

function namesIn(folder: string): readonly string[] {
  return attempt(() => readdirSync(folder), []);
}

function textOf(path: string): string {
  return attempt(() => readFileSync(path, "utf8"), "");
}

function targetOf(path: string): string {
  return attempt(() => readlinkSync(path), "");
}

/** A process may end meanwhile, or belong to another user. */
function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
