/**
 * The cgroup2 of one run: a leaf below the cgroup in which its supervisor runs, wherever the hierarchy is mounted
 * (alone at /sys/fs/cgroup, beside the older ones at /sys/fs/cgroup/unified, or elsewhere). It needs no controller,
 * only the right to make folders there and to move a process, which root has, and a service manager can delegate.
 *
 * Its processes stay in it, whatever their sessions, groups and parents; `populated` does not count zombies. On a
 * kernel without cgroup.kill (before 5.14), the leaf is frozen while each of its processes gets the signal, so that
 * none forks meanwhile.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { type LivingProcess, livingProcess, sendSignal } from "@trainyard/kernel/process-identity";

export type RunCgroup = {
  members(): readonly LivingProcess[];
  isPopulated(): boolean;
  /** Returns false when no process is in the group. */
  signal(name: NodeJS.Signals): boolean;
  remove(): void;
};

/** The cgroup2 folders of this process, the most promising first; empty without cgroup2. */
export function ownCgroups(
  mountinfo: string = readText("/proc/self/mountinfo"),
  membership: string = readText("/proc/self/cgroup"),
): readonly string[] {
  const own = /^0::(\/.*)$/m.exec(membership)?.[1];
  if (own === undefined) return [];
  return mountinfo.split("\n").flatMap((line) => {
    // In a line of proc_pid_mountinfo(5) the fourth field is the root of the mount and the fifth its place; the type
    // follows " - ".
    const [fields = "", after = ""] = line.split(" - ");
    if (after.split(" ")[0] !== "cgroup2") return [];
    const [, , , root = "", mountPoint = ""] = fields.split(" ");
    const below = root === "/" ? own : own.startsWith(`${root}/`) ? own.slice(root.length) : null;
    if (below === null && own !== root) return [];
    return [resolve(unescaped(mountPoint), `.${below ?? ""}`)];
  });
}

/** A run's leaf, and its supervisor's cgroup. */
export type Leaf = { readonly path: string; readonly home: string };

/** Makes the leaf; throws if that is not allowed. */
export function createCgroup(name: string): Leaf {
  let problem: unknown = new Error("no cgroup2 is mounted on this host");
  for (const home of ownCgroups()) {
    const path = join(home, name);
    try {
      mkdirSync(path, { recursive: true });
      return { path, home };
    } catch (error) {
      problem = error;
    }
  }
  throw problem;
}

/** Does the work as a member of the leaf, so that new processes are born in it, and then returns to `home`. */
export function within<T>({ path, home }: Leaf, work: () => T): T {
  enter(path);
  try {
    return work();
  } finally {
    enter(home);
  }
}

function enter(path: string): void {
  writeFileSync(join(path, "cgroup.procs"), String(process.pid));
}

/**
 * Tests whether a leaf can be made and a process be moved into it and back; returns the problem, or null. Leaves no
 * folder behind.
 */
export function cgroupProblem(): string | null {
  try {
    const leaf = createCgroup(`trainyard-probe-${process.pid}`);
    try {
      within(leaf, () => {});
    } finally {
      cgroupOf(leaf.path).remove();
    }
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function cgroupOf(path: string, hasKill = existsSync(join(path, "cgroup.kill"))): RunCgroup {
  const members = (): readonly LivingProcess[] =>
    pidsOf(path).flatMap((pid) => (pid === process.pid ? [] : (livingProcess(pid) ?? [])));
  const isPopulated = (): boolean => /^populated 1$/m.test(readText(join(path, "cgroup.events")));
  return {
    members,
    isPopulated,
    signal(name) {
      if (!isPopulated()) return false;
      if (name === "SIGKILL" && hasKill) {
        writeFileSync(join(path, "cgroup.kill"), "1");
        return true;
      }
      freeze(path, true);
      try {
        for (const { pid } of members()) sendSignal(pid, name);
      } finally {
        freeze(path, false);
      }
      return true;
    },
    remove: () => removeTree(path),
  };
}

/** Freezing takes effect with a delay: it only reduces the number of forks, so the caller checks again. */
function freeze(path: string, frozen: boolean): void {
  try {
    writeFileSync(join(path, "cgroup.freeze"), frozen ? "1" : "0");
  } catch {
    // The kernel is older than 5.2, or the cgroup was removed.
  }
}

/** The run may have made cgroups below its own. */
function foldersBelow(path: string): readonly string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(path, name));
  } catch {
    return [];
  }
}

function pidsOf(path: string): readonly number[] {
  const pids = readText(join(path, "cgroup.procs")).split("\n").filter(Boolean).map(Number);
  return [...pids, ...foldersBelow(path).flatMap(pidsOf)];
}

function removeTree(path: string): void {
  for (const folder of foldersBelow(path)) removeTree(folder);
  try {
    rmdirSync(path);
  } catch {
    // The folder is removed already, or not empty yet: a left-over costs only a little kernel memory.
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function unescaped(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}
