/**
 * The environment of a training process, in layers: the agent's variables without those of the platform and of
 * toolchains, then the configuration's variables, then those of the run. The run's token is the only credential.
 */
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import type { Slot } from "@trainyard/contracts/events";
import { visibilityVariables, visibleDevices } from "./visible-devices.ts";

export type StoragePlaces = {
  /** The folder of the run's checkpoints; null if the run has to ask the registry. */
  readonly checkpointRoot: string | null;
  /**
   * The share of the free disk, 0 to 1, in which the run seals checkpoints for an object store. Null for a directory.
   */
  readonly uploadDiskShare: number | null;
  /**
   * The folder of the run's TensorBoard files: null for the checkpoint folder, empty if the agent uploads them from the
   * run's folder to an object store.
   */
  readonly tensorboardRoot: string | null;
  /**
   * The folder to which the agent saves the folder of a task; null or absent for none, and for an object store. The run
   * itself does not see it.
   */
  readonly saveRoot?: string | null;
};

export type Surroundings = {
  readonly apiUrl: string;
  readonly metricsUrl: string;
  /** Null if the installed package is used. */
  readonly sdkPath: string | null;
  readonly runDir: string;
  /** The folder of a task that keeps its work, which is HOME; null for any other run. */
  readonly home: string | null;
  readonly storages: StoragePlaces;
  /** The slots of the run on this agent. */
  readonly slots: readonly Plain<Slot>[];
  /** The variables inherited from the agent. */
  readonly inherited: Readonly<Record<string, string>>;
};

/**
 * The platform's settings and secrets, npm's and Node's own, the usual names of database and bus credentials, and the
 * settings of the platform's traces, which may hold a collector's key.
 */
const notInherited =
  /^(TRAINYARD_|OTEL_|TRACEPARENT$|npm_|INIT_CWD$|NODE_OPTIONS$|NODE_COMPILE_CACHE$|VITEST|NATS_|PG[A-Z]+$|POSTGRES_|DATABASE_URL$)/;

export function environmentOf(
  launch: Plain<Launch>,
  surroundings: Surroundings,
): Readonly<Record<string, string>> {
  const environment: Record<string, string> = { PYTHONUNBUFFERED: "1" };
  for (const [name, value] of Object.entries(surroundings.inherited)) {
    if (notInherited.test(name) || visibilityVariables.test(name)) continue;
    environment[name] = value;
  }
  for (const [name, value] of configured(launch.environmentVariables)) environment[name] = value;
  const { sdkPath } = surroundings;
  const before = environment["PYTHONPATH"] ?? "";
  if (sdkPath !== null) {
    environment["PYTHONPATH"] = before === "" ? sdkPath : `${sdkPath}:${before}`;
  }
  const { home } = surroundings;
  return {
    ...environment,
    ...(home === null ? {} : homeVariables(home, environment["PATH"])),
    ...runVariables(launch, surroundings),
  };
}

/**
 * The variables of a task that keeps its work. What pip installs goes into a virtual environment in its folder, which
 * the holder makes on top of the task's own Python (supervisor/packages.py): so it is saved, and the host's Python is
 * not changed.
 */
function homeVariables(home: string, path = "/usr/local/bin:/usr/bin:/bin") {
  const programs = `${home}/${packagesFolder}/bin`;
  return {
    HOME: home,
    PATH: `${programs}:${path}`,
    PIP_PYTHON: `${programs}/python3`,
    // A pip before 22.3 does not know the variable above.
    PIP_REQUIRE_VIRTUALENV: "1",
  };
}

/** The folder of a task's installed packages, in its HOME, as in supervisor/packages.py. */
export const packagesFolder = ".packages";

/** KEY=VALUE entries; a bare KEY means the agent's variable, which is inherited anyway. */
function configured(variables: readonly string[]): readonly (readonly [string, string])[] {
  return variables.flatMap((variable) => {
    const at = variable.indexOf("=");
    return at > 0 ? [[variable.slice(0, at), variable.slice(at + 1)] as const] : [];
  });
}

function storageVariables(surroundings: Surroundings): Readonly<Record<string, string>> {
  const { tensorboardRoot } = surroundings.storages;
  return {
    ...checkpointVariables(surroundings),
    ...(tensorboardRoot === null ? {} : { TRAINYARD_TENSORBOARD_ROOT: tensorboardRoot }),
  };
}

function checkpointVariables({ storages, runDir }: Surroundings) {
  const { checkpointRoot, uploadDiskShare } = storages;
  if (uploadDiskShare !== null) {
    return {
      TRAINYARD_CHECKPOINT_ROOT: stagingFolder(runDir),
      TRAINYARD_CHECKPOINT_UPLOADS: "1",
      TRAINYARD_CHECKPOINT_DISK_SHARE: String(uploadDiskShare),
    };
  }
  return checkpointRoot === null ? {} : { TRAINYARD_CHECKPOINT_ROOT: checkpointRoot };
}

/** The folder in which a run seals checkpoints for an object store. */
export function stagingFolder(runDir: string): string {
  return `${runDir}/checkpoints`;
}

function runVariables(
  launch: Plain<Launch>,
  surroundings: Surroundings,
): Readonly<Record<string, string>> {
  const { apiUrl, runDir, slots } = surroundings;
  return {
    ...visibleDevices(slots),
    TRAINYARD_URL: apiUrl,
    TRAINYARD_TOKEN: launch.token,
    TRAINYARD_LOG: launch.log,
    TRAINYARD_RUN_DIR: runDir,
    TRAINYARD_RUN: String(launch.run),
    TRAINYARD_CONFIG: launch.config,
    TRAINYARD_SLOT_IDS: launch.slots.join(","),
    ...(launch.traceparent === "" ? {} : { TRACEPARENT: launch.traceparent }),
    ...(launch.task === undefined
      ? trialVariables(launch, surroundings)
      : {
          TRAINYARD_TASK_ID: launch.task.id,
          TRAINYARD_TASK_KIND: launch.task.kind,
          TRAINYARD_TASK_SECRET: launch.task.secret,
        }),
  };
}

/** A task has none of them, so that the SDK in it does not take it for a trial. */
function trialVariables(launch: Plain<Launch>, surroundings: Surroundings) {
  return {
    ...storageVariables(surroundings),
    TRAINYARD_METRICS_URL: surroundings.metricsUrl,
    TRAINYARD_EXPERIMENT_ID: launch.experiment,
    TRAINYARD_TRIAL_ID: launch.trial,
    TRAINYARD_TRIAL_SEED: String(launch.trialSeed),
    TRAINYARD_HPARAMS: JSON.stringify(launch.hyperparameters ?? {}),
    TRAINYARD_SEARCH_NEEDS_METRIC: launch.searchNeedsMetric ? "1" : "0",
    TRAINYARD_LATEST_CHECKPOINT: launch.latestCheckpoint,
    TRAINYARD_STEPS_COMPLETED: String(launch.stepsCompleted),
    TRAINYARD_NODE_RANK: String(launch.nodeRank),
    TRAINYARD_NNODES: String(launch.nodes),
    TRAINYARD_MASTER_ADDR: launch.masterAddress,
    TRAINYARD_MASTER_PORT: String(launch.masterPort),
    TRAINYARD_NODE_ADDRS: launch.nodeAddresses.join(","),
  };
}

/** A string runs under sh -c, after the commands `before`; a list is used unchanged. */
export function argvOf({ entrypoint }: Plain<Launch>, before = ""): readonly string[] {
  if (entrypoint.case === "shell") return ["sh", "-c", before + entrypoint.value];
  return entrypoint.case === "command" ? entrypoint.value.arguments : [];
}
