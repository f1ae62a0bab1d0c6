import { readdirSync, readFileSync } from "node:fs";

export type Memory = {
  /** The resident memory of the processes, with shared pages counted once. */
  readonly sharedOnceMb: number;
  /** The sum of the resident memory of each process. */
  readonly eachMb: number;
};

/** Measures these processes and all their descendants. */
export function memoryOf(roots: readonly number[]): Memory {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = /^PPid:\s+(\d+)/m.exec(textOf(`/proc/${name}/status`))?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const wanted = new Set(roots);
  const isOurs = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined; at = parents.get(at)) {
      if (wanted.has(at)) return true;
    }
    return false;
  };
  let pss = 0;
  let rss = 0;
  for (const pid of parents.keys()) {
    if (!isOurs(pid)) continue;
    const text = textOf(`/proc/${pid}/smaps_rollup`);
    pss += kilobytes(text, "Pss");
    rss += kilobytes(text, "Rss");
  }
  return { sharedOnceMb: pss / 1024, eachMb: rss / 1024 };
}

/** Returns the file's text; empty if the process has ended or this user may not read it. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const kilobytes = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);
