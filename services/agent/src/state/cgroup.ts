/**
 * The cgroup2 of one run: a leaf below the cgroup in which its supervisor runs, which makes it (processes.py), wherever
 * the hierarchy is mounted (alone at /sys/fs/cgroup, beside the older ones at /sys/fs/cgroup/unified, or elsewhere). It
 * needs no controller, only the right to make folders there and to move a process, which root has, and a service
 * manager can delegate.
 *
 * Its processes stay in it, whatever their sessions, groups and parents; `populated` does not count zombies. On a
 * kernel without cgroup.kill (before 5.14), the leaf is frozen while each of its processes gets the signal, so that
 * none forks meanwhile.
 */
import { existsSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LivingProcess, livingProcess, sendSignal } from "@trainyard/kernel/process-identity";

export type RunCgroup = {
  members(): readonly LivingProcess[];
  isPopulated(): boolean;
  /** Returns false when no process is in the group. */
  signal(name: NodeJS.Signals): boolean;
  remove(): void;
};

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
