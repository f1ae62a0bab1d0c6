/**
 * Which process a number stands for: a pid is used again after a while, so a process is named by its pid together with
 * the moment of its start and the boot. A zombie is dead. Without /proc (macOS) the pid alone must do.
 */
import { readdirSync, readFileSync } from "node:fs";

export type ProcessIdentity = {
  readonly pid: number;
  readonly started: string;
  readonly boot: string;
};

const boot = (readOrNull("/proc/sys/kernel/random/boot_id") ?? "").trim();

export function identityOf(pid: number): ProcessIdentity | null {
  const process = identityOfChild(pid);
  return process === null || statOf(pid)?.isLiving === false ? null : process;
}

/** Of a child that was not waited for, which is itself also when it has ended already. */
export function identityOfChild(pid: number): ProcessIdentity | null {
  if (!hasProc) return answers(pid) ? { pid, started: "", boot } : null;
  const stat = statOf(pid);
  return stat === null ? null : { pid, started: stat.started, boot };
}

export function isAlive(identity: ProcessIdentity): boolean {
  const now = identity.pid > 0 ? identityOf(identity.pid) : null;
  return now !== null && now.started === identity.started && now.boot === identity.boot;
}

/** A process that lives, as /proc tells it. */
export type LivingProcess = ProcessIdentity & {
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly name: string;
  readonly state: string;
};

/** Whether there is a /proc to look at; without one (macOS) a pid alone must do. */
export const hasProc = boot !== "";

/** All that live on this host but this process itself, the newest first: what forks on is where it is about to be. */
export function livingProcesses(): readonly LivingProcess[] {
  if (!hasProc) return [];
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .toSorted((a, b) => b - a)
    .flatMap((pid) => (pid === process.pid ? [] : (livingProcess(pid) ?? [])));
}

/** Null when it is dead, or a zombie. */
export function livingProcess(pid: number): LivingProcess | null {
  const stat = statOf(pid);
  return stat?.isLiving === true ? { pid, boot, ...stat } : null;
}

/** Whether a process was started with a variable of this value; false where that may not be read. */
export function carries(pid: number, variable: string, value: string): boolean {
  return `\0${readOrNull(`/proc/${pid}/environ`) ?? ""}`.includes(`\0${variable}=${value}\0`);
}

/** A pid is free for others only once no session has it as its number; so a leader that is merely gone was not. */
export function wasReused(leader: ProcessIdentity): boolean {
  if (leader.boot !== boot) return true;
  const now = statOf(leader.pid);
  return now !== null && now.started !== leader.started;
}

/** Sends a signal; false when nobody took it. A negative number stands for a process group. */
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
  // The name in parentheses may hold anything; then come state, parent, group, session. Field 20 is the number of threads
  // and 22 the start (proc(5)).
  const name = text.slice(text.indexOf("(") + 1, text.lastIndexOf(")"));
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state = "X", parent = "0", group = "0", session = "0"] = fields;
  // A zombie whose other threads live (its memory and its devices too) is a process whose first thread has ended.
  const isLiving = state !== "X" && (state !== "Z" || Number(fields[17]) > 1);
  const numbers = { parent: Number(parent), group: Number(group), session: Number(session) };
  return { isLiving, name, state, started: fields[19] ?? "", ...numbers };
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The process has ended, or belongs to somebody else.
    return null;
  }
}
