/** The processes of this machine: their identities, their start arguments, and signals to them. */
import { readdirSync, readFileSync } from "node:fs";
import { hasProc, isAlive, type ProcessIdentity } from "@trainyard/kernel/process-identity";

export {
  identityOf,
  isAlive,
  type ProcessIdentity,
  sendSignal,
} from "@trainyard/kernel/process-identity";

/** Sends a signal to a process unless it has ended. */
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
  /** Empty when this user may not read the process's environment. */
  readonly environment: readonly string[];
};

/** Every visible process, with its start arguments; empty on a system without /proc. */
export function allProcesses(): readonly ProcessView[] {
  if (!hasProc) return [];
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
    // The process has ended, or belongs to another user.
    return null;
  }
}
