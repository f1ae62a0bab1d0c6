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
  if (boot === "") return answers(pid) ? { pid, started: "", boot } : null;
  const stat = statOf(pid);
  return stat === null ? null : { pid, started: stat.started, boot };
}

export function isAlive(identity: ProcessIdentity): boolean {
  const now = identity.pid > 0 ? identityOf(identity.pid) : null;
  return now !== null && now.started === identity.started && now.boot === identity.boot;
}

/**
 * What lives of a run: the process group's leader and whoever is in its session, and everything that was started with
 * the run's folder in its environment, also after a setsid of its own.
 */
export function membersOf(
  runDir: string,
  leader: ProcessIdentity | null,
): readonly ProcessIdentity[] {
  if (boot === "") return leader !== null && isAlive(leader) ? [leader] : [];
  const mark = `\0TRAINYARD_RUN_DIR=${runDir}\0`;
  const session = leader === null || wasReused(leader) ? null : leader.pid;
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .flatMap((pid) => {
      const stat = statOf(pid);
      if (stat === null || pid === process.pid) return [];
      const isOurs =
        (session !== null && (stat.session === session || stat.group === session)) ||
        `\0${readOrNull(`/proc/${pid}/environ`) ?? ""}`.includes(mark);
      return isOurs ? [{ pid, started: stat.started, boot }] : [];
    });
}

/** A pid is free for others only once no session has it as its number; so a leader that is merely gone was not. */
function wasReused(leader: ProcessIdentity): boolean {
  if (leader.boot !== boot) return true;
  const now = statOf(leader.pid);
  return now !== null && now.started !== leader.started;
}

/** Sends a signal; false when there was nobody to send it to. A negative number stands for a process group. */
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

/** Signals all that lives of a run, and says whether there was anything. */
export function signalMembers(
  runDir: string,
  leader: ProcessIdentity | null,
  name: NodeJS.Signals,
): boolean {
  if (leader !== null && isAlive(leader)) sendSignal(-leader.pid, name);
  const members = membersOf(runDir, leader);
  // Those of the group have it already; a second one changes nothing for SIGKILL, and SIGTERM is for strays only.
  for (const member of members) {
    if (name === "SIGKILL" || statOf(member.pid)?.group !== leader?.pid) {
      sendSignal(member.pid, name);
    }
  }
  return members.length > 0;
}

type Stat = { readonly started: string; readonly group: number; readonly session: number };

function statOf(pid: number): Stat | null {
  const text = readOrNull(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name in parentheses may hold anything; then come state, parent, group, session; field 22 is the start (proc(5)).
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state = "X", , group = "0", session = "0"] = fields;
  if (state === "Z" || state === "X") return null;
  return { started: fields[19] ?? "", group: Number(group), session: Number(session) };
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
