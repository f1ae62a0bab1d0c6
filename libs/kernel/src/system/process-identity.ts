/**
 * Identifies a process across reuse of its pid: by its pid, its start time (clock ticks since the boot) and the boot
 * id. A zombie counts as dead. Without /proc (macOS) the start time is the one that ps prints.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export type ProcessIdentity = {
  readonly pid: number;
  readonly started: string;
  readonly boot: string;
};

/** The kernel's id of this boot; empty without /proc. */
export const boot = (readOrNull("/proc/sys/kernel/random/boot_id") ?? "").trim();

/** Returns null if no living process has this pid. */
export function identityOf(pid: number): ProcessIdentity | null {
  const start = startOf(pid);
  return start?.isLiving === true ? { pid, started: start.started, boot } : null;
}

/** Identifies a child that was not waited for: its pid is not reused, even if the child has ended. */
export function identityOfChild(pid: number): ProcessIdentity | null {
  const start = startOf(pid);
  return start === null ? null : { pid, started: start.started, boot };
}

export function isAlive(identity: ProcessIdentity): boolean {
  const now = identity.pid > 0 ? identityOf(identity.pid) : null;
  return now !== null && now.started === identity.started && now.boot === identity.boot;
}

/** A living process, read from /proc. */
export type LivingProcess = ProcessIdentity & {
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly name: string;
  readonly state: string;
};

/** Whether this host has /proc. */
export const hasProc = boot !== "";

/**
 * Returns all living processes of this host except this one, the newest first, so that processes forked during the scan
 * are found.
 */
export function livingProcesses(): readonly LivingProcess[] {
  if (!hasProc) return [];
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .toSorted((a, b) => b - a)
    .flatMap((pid) => (pid === process.pid ? [] : (livingProcess(pid) ?? [])));
}

/** Returns null if the process is dead or a zombie. */
export function livingProcess(pid: number): LivingProcess | null {
  const stat = statOf(pid);
  return stat?.isLiving === true ? { pid, boot, ...stat } : null;
}

/** Returns whether a process was started with this value of a variable; false if its environment may not be read. */
export function carries(pid: number, variable: string, value: string): boolean {
  return `\0${readOrNull(`/proc/${pid}/environ`) ?? ""}`.includes(`\0${variable}=${value}\0`);
}

/** Returns the real user id of a process; null if it may not be read. */
export function userOf(pid: number): number | null {
  const id = /^Uid:\s+(\d+)/m.exec(readOrNull(`/proc/${pid}/status`) ?? "")?.[1];
  return id === undefined ? null : Number(id);
}

/**
 * Returns whether the leader's pid was reused. The kernel reuses a pid only when no session has it as its id, so an
 * absent leader's pid was not reused.
 */
export function wasReused(leader: ProcessIdentity): boolean {
  if (leader.boot !== boot) return true;
  const now = statOf(leader.pid);
  return now !== null && now.started !== leader.started;
}

/** Sends a signal; returns false if no process received it. A negative target is a process group. */
export function sendSignal(target: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(target, name);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ESRCH" || code === "EPERM") return false;
    throw error;
  }
}

type Stat = Omit<LivingProcess, "pid" | "boot"> & { readonly isLiving: boolean };

function statOf(pid: number): Stat | null {
  const text = readOrNull(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name in parentheses may contain anything; after it come state, parent, group, session. Field 20 is the number
  // of threads and 22 the start time (proc(5)).
  const name = text.slice(text.indexOf("(") + 1, text.lastIndexOf(")"));
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state = "X", parent = "0", group = "0", session = "0"] = fields;
  // A zombie with other living threads still has its memory and devices: only its first thread has ended.
  const isLiving = state !== "X" && (state !== "Z" || Number(fields[17]) > 1);
  const numbers = { parent: Number(parent), group: Number(group), session: Number(session) };
  return { isLiving, name, state, started: fields[19] ?? "", ...numbers };
}

type Start = { readonly started: string; readonly isLiving: boolean };

function startOf(pid: number): Start | null {
  return hasProc ? statOf(pid) : startByPs(pid);
}

function startByPs(pid: number): Start | null {
  try {
    const line = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    return { isLiving: !line.startsWith("Z"), started: line.slice(line.indexOf(" ") + 1).trim() };
  } catch {
    // The process does not exist.
    return null;
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The process has ended or belongs to another user.
    return null;
  }
}
