/**
 * Which process a number stands for. A pid is used again after a while, so a process is named by its pid together with
 * the moment of its start (in clock ticks since boot) and the boot. A zombie is dead: where nobody reaps orphans, they
 * stay in the table for ever.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export type ProcessIdentity = {
  readonly pid: number;
  readonly started: string;
  readonly boot: string;
};

const bootId = readOrNull("/proc/sys/kernel/random/boot_id")?.trim() ?? "";

/** Null when no living process has this pid. */
export function identityOf(pid: number): ProcessIdentity | null {
  const started = bootId === "" ? startedByPs(pid) : startedByProc(pid);
  return started === null ? null : { pid, started, boot: bootId };
}

export function isAlive(process: ProcessIdentity): boolean {
  const now = identityOf(process.pid);
  return now !== null && now.started === process.started && now.boot === process.boot;
}

/** Sends a signal unless the process has ended. */
export function signal(target: ProcessIdentity, name: NodeJS.Signals): void {
  if (!isAlive(target)) return;
  try {
    process.kill(target.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

export type ProcessView = {
  readonly pid: number;
  readonly argv: readonly string[];
  /** Empty for a process that this user may not look into. */
  readonly environment: readonly string[];
};

/** Every process that can be seen, with its start arguments; empty where there is no /proc. */
export function allProcesses(): readonly ProcessView[] {
  if (bootId === "") return [];
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map((name) => ({
      pid: Number(name),
      argv: splitNul(readOrNull(`/proc/${name}/cmdline`)),
      environment: splitNul(readOrNull(`/proc/${name}/environ`)),
    }));
}

function splitNul(text: string | null): readonly string[] {
  return text === null ? [] : text.split("\0").slice(0, -1);
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The process has ended, or belongs to somebody else.
    return null;
  }
}

function startedByProc(pid: number): string | null {
  const stat = readOrNull(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The name in parentheses may hold anything; the state is field 3 and the start time field 22 (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  if (state === "Z" || state === "X") return null;
  return fields[19] ?? null;
}

/** Where there is no /proc (macOS). */
function startedByPs(pid: number): string | null {
  try {
    const line = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    const at = line.indexOf(" ");
    return line.startsWith("Z") ? null : line.slice(at + 1).trim();
  } catch {
    return null;
  }
}
