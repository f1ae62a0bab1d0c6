/**
 * The functions behind `yard cluster …`. Each failure that a person has to act on is a ClusterError with one sentence.
 */
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
import { type Launched, launch } from "./processes/launch.ts";
import { limits } from "./limits.ts";
import { type DefaultStorage, storageVariables } from "./default-storage.ts";
import { lockHolder, tryLock } from "./processes/lock.ts";
import { lastLines } from "./processes/log-files.ts";
import { type ClusterOptions, optionArguments } from "./options.ts";
import { runningPostgres } from "./servers/postgres.ts";
import { ownDatabaseFolder, removeRelocated } from "./servers/postgres-place.ts";
import { isAlive, type ProcessIdentity, signal } from "./processes/process-identity.ts";
import { ProcessRecords } from "./processes/records.ts";
import { readSecrets } from "./home/secrets.ts";
import { endLeftovers } from "./supervisor/supervisor.ts";
import { failureFile, supervisorLock } from "./home/supervisor-files.ts";
import { sweep } from "./processes/sweep.ts";
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
    },
    options.pathFirst,
    options.storage,
  );
  const cluster = await untilReady(home, launched, options.onProgress);
  const own = cluster.processes.find((one) => one.kind === "supervisor");
  return { cluster, alreadyUp: own?.pid !== launched.child.pid };
}

function startSupervisor(
  home: Home,
  options: ClusterOptions,
  pathFirst: string | undefined,
  storage: DefaultStorage | undefined,
): Promise<Launched> {
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
  launched: Launched | null,
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

/** True if a supervisor of this home lives: the one that this call launched, or one of a concurrent start. */
function supervisorLives(home: Home, launched: Launched | null): boolean {
  const started = launched?.identity ?? null;
  return (started !== null && isAlive(started)) || lockHolder(supervisorLock(home)) !== null;
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

/** The processes of a home; null when none runs. If the supervisor is dead, their last recorded states are returned. */
export async function clusterStatus(folder: string = homeFolder()): Promise<ClusterInfo | null> {
  const home = homeAt(folder);
  const status = await ask(home, { verb: "status" });
  if (status !== null) return status.cluster;
  const left = readJson(home.clusterFile) as ClusterInfo | null;
  if (left === null) return null;
  const living = new Map(
    new ProcessRecords(home).living().map((record) => [record.name, record.identity.pid]),
  );
  if (living.size === 0) return null;
  return {
    ...left,
    processes: left.processes.map((one) => {
      const pid = living.get(one.name) ?? null;
      return { ...one, pid, state: pid === null ? "ended" : "running" };
    }),
    notes: [
      ...left.notes,
      'The supervisor was killed: its processes still run, but they are not restarted when they end. "yard cluster up" starts a new supervisor.',
    ],
  };
}

/** Ends all processes of a home's cluster; with `purge` its data is removed too. False when the home had neither. */
export async function clusterDown(
  folder: string = homeFolder(),
  options: { readonly purge?: boolean } = {},
): Promise<boolean> {
  const home = homeAt(folder);
  if (!existsSync(home.run)) return false;
  const told = await ask(home, { verb: "down" });
  if (told !== null) await untilGone(home);
  await endHolder(home);
  const lock = tryLock(supervisorLock(home));
  if (!lock.held)
    throw new ClusterError(
      "busy",
      "Another command started this cluster at the same time: try again.",
    );
  const left = await endLeft(home);
  rmSync(home.clusterFile, { force: true });
  if (options.purge === true) {
    removeRelocated(home);
    removeHome(home);
    return true;
  }
  lock.lock[Symbol.dispose]();
  return told !== null || left;
}

/** Ends a supervisor that does not answer its socket: first by a signal, then by SIGKILL. */
async function endHolder(home: Home): Promise<void> {
  const holder = lockHolder(supervisorLock(home));
  if (holder === null) return;
  signal(holder, "SIGTERM");
  if (await gone(holder, limits.downMs)) return;
  signal(holder, "SIGKILL");
  await gone(holder, limits.sweepMs);
}

/** Ends the processes that a killed supervisor left. */
async function endLeft(home: Home): Promise<boolean> {
  const ended = await endLeftovers(new ProcessRecords(home), () => false);
  const database = ownDatabaseFolder(home);
  const postgres = database === null ? null : runningPostgres(database);
  if (postgres !== null) {
    signal(postgres, "SIGINT");
    await gone(postgres, limits.stopPostgresMs);
  }
  const secrets = readSecrets(home);
  if (secrets !== null) await sweep(secrets.clusterId, home);
  return ended.length > 0 || postgres !== null;
}

async function untilGone(home: Home): Promise<void> {
  await waitUntil(() => lockHolder(supervisorLock(home)) === null, limits.downMs);
}

function gone(process: ProcessIdentity, limitMs: number): Promise<boolean> {
  return waitUntil(() => !isAlive(process), limitMs);
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
