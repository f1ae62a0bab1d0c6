/** The runs in the folders of a home's agents, which may live without an agent. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../home/atomic-file.ts";
import type { Home } from "../home/home.ts";
import { limits } from "../limits.ts";
import { isAlive, type ProcessIdentity, sendSignal, signal } from "./process-identity.ts";
import { waitUntil } from "./wait.ts";

/** A run with a living process. The agent's state/layout.ts describes the files of its folder. */
export type LivingRun = {
  readonly folder: string;
  /** Null if it is dead. */
  readonly supervisor: ProcessIdentity | null;
  /** The leader of the run's process group; null if it is dead. */
  readonly leader: ProcessIdentity | null;
};

export function livingRuns(home: Home): readonly LivingRun[] {
  return foldersIn(home.agents)
    .flatMap((agent) => foldersIn(join(agent, "runs")))
    .map((folder) => ({
      folder,
      supervisor: livingIn(join(folder, "supervisor.json")),
      leader: livingIn(join(folder, "process.json")),
    }))
    .filter(({ supervisor, leader }) => supervisor !== null || leader !== null);
}

function foldersIn(path: string): readonly string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((one) => one.isDirectory()).map(({ name }) => join(path, name));
  } catch {
    // The folder does not exist.
    return [];
  }
}

function livingIn(file: string): ProcessIdentity | null {
  try {
    const identity = readJson(file) as ProcessIdentity | null;
    return identity !== null && isAlive(identity) ? identity : null;
  } catch {
    // A power cut left a torn file, and no process.
    return null;
  }
}

/**
 * Ends the runs of a home, whose agents have ended; returns whether there were any. The supervisor of a run records a
 * shutdown, which counts as no failure of the trial, and passes the signal on. A run that does not end is killed while
 * its supervisor lives, so that its end is recorded, too.
 */
export async function endRuns(home: Home): Promise<boolean> {
  const runs = livingRuns(home);
  if (runs.length === 0) return false;
  const areOver = async (): Promise<boolean> =>
    await waitUntil(() => livingRuns(home).length === 0, limits.stopRunsMs);
  for (const { supervisor, leader } of runs) {
    if (supervisor !== null) signal(supervisor, "SIGTERM");
    else if (leader !== null) sendSignal(-leader.pid, "SIGTERM");
  }
  if (await areOver()) return true;
  for (const { leader } of livingRuns(home))
    if (leader !== null) sendSignal(-leader.pid, "SIGKILL");
  if (await areOver()) return true;
  for (const { supervisor } of livingRuns(home))
    if (supervisor !== null) signal(supervisor, "SIGKILL");
  return true;
}
