/** Finds the Python that runs the agent's own programs, and whether it can hold runs on this host. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { RunLimits } from "../core/run-limits.ts";

/** The system's Python comes first: the one on the PATH may be a slow shim, or a user's environment. */
const pythons = ["/usr/bin/python3", "python3"];

/** The arguments that start one of the agent's Python programs, without the user's Python settings. */
export function pythonIn(...program: readonly string[]): readonly [string, ...string[]] {
  return [python(), "-I", "-S", "-E", ...program];
}

export function python(): string {
  return pythons.find((path) => !path.startsWith("/") || existsSync(path)) ?? "python3";
}

/**
 * The Python for the package trainyard: any Python if the package's folder is known, else the one on the PATH, as for
 * runs.
 */
export function pythonWithSdk(sdkPath: string | null): string {
  return sdkPath === null ? "python3" : python();
}

/** The program that forks the supervisors of processes. */
export const starterProgram = join(import.meta.dirname, "starter.py");
/** The program that becomes another program with another user. */
export const parentProgram = join(import.meta.dirname, "parent.py");

/** The reasons why this host cannot hold runs so; null for what it can. */
export type Holding = {
  /** By a cgroup with the limits. */
  readonly cgroup: string | null;
  readonly parent: string | null;
  /** With a /dev/shm and a /tmp of their own. */
  readonly folders: string | null;
};

/** Python reports this in a tenth of a second, and on a very busy host much later. */
const probeMs = 60_000;

/** Without a parent no process can be a run. */
export function holdingHere(limits: RunLimits = {}): Holding {
  const [program, ...parameters] = pythonIn(starterProgram);
  const { error, status, stdout, stderr } = spawnSync(
    program,
    [...parameters, "probe", JSON.stringify(limits)],
    {
      timeout: probeMs,
      encoding: "utf8",
    },
  );
  if (error === undefined && status === 0) return JSON.parse(stdout) as Holding;
  const problem = error?.message ?? (stderr.trim() || `it ended with ${status}`);
  return { cgroup: problem, parent: problem, folders: problem };
}
