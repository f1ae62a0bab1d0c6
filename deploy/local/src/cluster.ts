/**
 * The functions behind `yard cluster …`. Each failure that a person has to act on is a ClusterError with one sentence.
 */
import type { ChildProcess } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { programFile } from "@trainyard/kernel/program-file";
import { readJson } from "./home/atomic-file.ts";
import { ClusterError } from "./cluster-error.ts";
import type { ClusterInfo } from "./cluster-info.ts";
import { ask, type SupervisorStatus } from "./control.ts";
import {
  checkout,
  type Home,
  homeAt,
  homeFolder,
  logOf,
  prepareHome,
  requireCheckout,
  removeHome,
} from "./home/home.ts";
import { inheritedEnvironment } from "./processes/inherited-environment.ts";
import { isRunning, launch } from "./processes/launch.ts";
import { limits } from "./limits.ts";
import { type DefaultStorage, storageVariables } from "./default-storage.ts";
import { isLocked, type Lock, waitForLock } from "./processes/lock.ts";
import { lastLines } from "./processes/log-files.ts";
import { type ClusterOptions, optionArguments } from "./options.ts";
import { removeOutside } from "./servers/postgres-place.ts";
import { isAlive, type ProcessIdentity, signal } from "./processes/process-identity.ts";
import { endRuns } from "./processes/runs.ts";
import { requireItsPath } from "./home-path.ts";
import { failureFile, supervisorFile, supervisorLock } from "./home/supervisor-files.ts";
import { waitUntil } from "./processes/wait.ts";

export type UpResult = {
  readonly cluster: ClusterInfo;
  /** True if a cluster was already up in this home; the options of the call then changed nothing. */
  readonly alreadyUp: boolean;
};

export type UpOptions = Partial<ClusterOptions> & {
  readonly home?: string;
  /** A folder in front of the caller's PATH: training processes may need its programs. */
  readonly pathFirst?: string;
  /** The checkpoint storage of experiments that name none; the home's folder by default. */
  readonly storage?: DefaultStorage | undefined;
  /** Called with the name of the current step whenever it changes. */
  readonly onProgress?: (step: string) => void;
};

/** Starts the cluster of a home, or finds the one that runs, and waits until it is ready. */
export async function clusterUp(options: UpOptions = {}): Promise<UpResult> {
  const home = homeAt(options.home ?? homeFolder());
  const running = await ask(home, { verb: "status" });
  if (running !== null && running.phase !== "stopping") {
    return { cluster: await untilReady(home, null, options.onProgress), alreadyUp: true };
  }
  if (running !== null) await untilGone(home);
  requireCheckout();
  prepareHome(home);
  const launched = await startSupervisor(
    home,
    {
      agents: options.agents ?? 1,
      slots: options.slots ?? null,
      processes: options.processes ?? false,
      restart: options.restart ?? true,
      servicesModule: options.servicesModule ?? null,
      web: options.web ?? false,
      arrival: options.arrival ?? null,
    },
    options.pathFirst,
    options.storage,
  );
  const cluster = await untilReady(home, launched, options.onProgress);
  const own = cluster.processes.find((one) => one.kind === "supervisor");
  return { cluster, alreadyUp: own?.pid !== launched.pid };
}

function startSupervisor(
  home: Home,
  options: ClusterOptions,
  pathFirst: string | undefined,
  storage: DefaultStorage | undefined,
): Promise<ChildProcess> {
  rmSync(failureFile(home), { force: true });
  const inherited = inheritedEnvironment(process.env, new Set());
  const path = [pathFirst, inherited["PATH"]].filter((part) => part !== undefined).join(delimiter);
  return launch(
    {
      program: process.execPath,
      parameters: [
        programFile(join(import.meta.dirname, "supervisor", "main.ts")),
        ...optionArguments(home.path, options),
      ],
      environment: { ...inherited, PATH: path, ...storageVariables(storage, inherited) },
      folder: checkout,
      user: null,
    },
    logOf(home, "supervisor"),
  );
}

/** Follows the supervisor until all processes serve; throws its failure as a sentence. */
async function untilReady(
  home: Home,
  launched: ChildProcess | null,
  onProgress: (step: string) => void = () => {},
): Promise<ClusterInfo> {
  let status: SupervisorStatus | null = null;
  let shown = "";
  await waitUntil(async () => {
    status = await ask(home, { verb: "status" });
    if (status === null) return !supervisorLives(home, launched);
    if (status.phase === "starting" && status.step !== shown) onProgress(status.step);
    shown = status.step;
    return status.phase !== "starting";
  }, limits.upMs);
  return settled(home, status);
}

/**
 * True if a supervisor of this home lives: the one that this call launched, or one of a concurrent start. After a
 * failure the lock may still belong to processes of an earlier start that do not end.
 */
function supervisorLives(home: Home, launched: ChildProcess | null): boolean {
  if (launched !== null && isRunning(launched)) return true;
  return isLocked(supervisorLock(home)) && !existsSync(failureFile(home));
}

function settled(home: Home, status: SupervisorStatus | null): ClusterInfo {
  if (status?.phase === "ready" && status.cluster !== null) return status.cluster;
  if (status?.failure != null) throw new ClusterError("not_ready", status.failure);
  if (status?.phase === "stopping") {
    throw new ClusterError("stopping", "The cluster was stopped while it was starting.");
  }
  const failure = readJson(failureFile(home)) as { code: string; sentence: string } | null;
  if (failure !== null) throw new ClusterError(failure.code, failure.sentence);
  const log = logOf(home, "supervisor");
  const quoted = lastLines(log).join("\n");
  throw new ClusterError(
    "not_up",
    `The cluster did not start; the last lines of ${log} are:\n${quoted}`,
  );
}

/** The processes of a home's cluster; null when it does not run. */
export async function clusterStatus(folder: string = homeFolder()): Promise<ClusterInfo | null> {
  return (await ask(homeAt(folder), { verb: "status" }))?.cluster ?? null;
}

/** Ends all processes of a home's cluster; with `purge` its data is removed too. False when the home had neither. */
export async function clusterDown(
  folder: string = homeFolder(),
  options: { readonly purge?: boolean } = {},
): Promise<boolean> {
  const home = homeAt(folder);
  if (!existsSync(home.run)) return false;
  const status = await ask(home, { verb: "down" });
  if (status === null) requireItsPath(home);
  using _ = await lockWithoutSupervisor(home, status !== null);
  // A killed supervisor leaves its runs and this file.
  const ranRuns = await endRuns(home);
  const wasUp = status !== null || ranRuns || existsSync(home.clusterFile);
  rmSync(home.clusterFile, { force: true });
  if (options.purge !== true) return wasUp;
  removeOutside(home);
  removeHome(home);
  return true;
}

/** Waits until no process of the cluster is left, and ends a supervisor that does not answer its socket. */
async function lockWithoutSupervisor(home: Home, isGoingDown: boolean): Promise<Lock> {
  const path = supervisorLock(home);
  const holder = readJson(supervisorFile(home)) as ProcessIdentity | null;
  if (!isGoingDown && holder !== null) signal(holder, "SIGTERM");
  let lock = await waitForLock(path, limits.downMs);
  if (lock === null && holder !== null) {
    signal(holder, "SIGKILL");
    lock = await waitForLock(path, limits.orphansMs);
  }
  if (lock !== null) {
    // The kernel closes the files of an ending process, and with them its lock, shortly before the process is gone.
    if (holder !== null) await waitUntil(() => !isAlive(holder), limits.killedMs);
    return lock;
  }
  throw new ClusterError(
    "busy",
    `Processes of this cluster do not end, or another command started it at the same time: try again ("lsof ${path}" lists them).`,
  );
}

async function untilGone(home: Home): Promise<void> {
  await waitUntil(() => !isLocked(supervisorLock(home)), limits.downMs);
}

/** Stops one process, starts it again, and waits until it serves. */
export async function restartProcess(name: string, folder: string = homeFolder()): Promise<void> {
  const home = homeAt(folder);
  const status = await ask(home, { verb: "restart", name });
  if (status === null) {
    throw new ClusterError(
      "not_up",
      'No cluster runs in this home: start one with "yard cluster up".',
    );
  }
}

/** Returns the log of one process, running or ended. */
export function processLog(name: string, folder: string = homeFolder()): string {
  const home = homeAt(folder);
  const path = logOf(home, name);
  if (/^[a-z0-9-]+$/.test(name) && existsSync(path)) return path;
  throw new ClusterError(
    "no_such_log",
    `There is no log of a process called ${name}: "yard cluster status" lists them.`,
  );
}
