import { availableParallelism, hostname } from "node:os";
import {
  type ProcessConfig,
  parseEnvironment,
  processOf,
  processVariables,
} from "@trainyard/runtime";
import { bytesOf } from "@trainyard/experiment-config/recorded";
import { z } from "zod";
import type { OfferSettings } from "./devices/slot-offer.ts";
import {
  type ContainerConfig,
  containerConfigOf,
  containerVariables,
  listOf,
  size,
} from "./container-config.ts";
import type { SlotLimits } from "./core/run-limits.ts";
import type { WorkLimits } from "./core/work-sentences.ts";
import { readLabels } from "./labels.ts";
import type { ProcessMechanism } from "./state/run-group.ts";
import type { UserSettings } from "./shell/open-users.ts";
import { parseUserRange, type UserRange } from "./state/run-user.ts";

function userRange(text: string, context: z.RefinementCtx): UserRange | null {
  try {
    return parseUserRange(text);
  } catch (error) {
    context.addIssue(error instanceof Error ? error.message : String(error));
    return null;
  }
}

const schema = z.object({
  ...processVariables,
  TRAINYARD_AGENT_NAME: z.string().min(1).default(hostname()),
  TRAINYARD_AGENT_DIR: z.string().min(1),
  /** The devices that the agent offers. auto: cuda if nvidia-smi lists GPUs, else rocm if rocm-smi does, else cpu. */
  TRAINYARD_AGENT_SLOT_TYPE: z.enum(["auto", "cuda", "rocm", "cpu", "none"]).default("auto"),
  /** The GPUs that the agent may offer, by number or UUID, separated by commas; empty for all. */
  TRAINYARD_AGENT_VISIBLE_DEVICES: z.string().default(""),
  /** The number of slots without a device, which replace all others, to try out scheduling; 0 for none. */
  TRAINYARD_AGENT_ARTIFICIAL_SLOTS: z.coerce.number().int().min(0).max(1_024).default(0),
  /** The number of CPU slots, if the agent offers CPU slots. */
  TRAINYARD_AGENT_SLOTS: z.coerce.number().int().min(0).max(1_024).default(availableParallelism()),
  /** The address at which other agents reach this agent's runs; by default the machine itself. */
  TRAINYARD_AGENT_ADDRESS: z.string().min(1).optional(),
  /** The way in which all processes of a run are found and ended; auto is the best one that the host allows. */
  TRAINYARD_AGENT_PROCESS_GROUPS: z.enum(["auto", "cgroup", "parent"]).default("auto"),
  /** The most memory of a run, for each of its slots. */
  TRAINYARD_AGENT_MEMORY: size,
  /** The most processes and threads of a run, for each of its slots. */
  TRAINYARD_AGENT_PIDS: z.coerce.number().int().positive().optional(),
  /** Whether runs have a /dev/shm and a /tmp of their own where the host allows it. */
  TRAINYARD_AGENT_PRIVATE_TMP: z.enum(["true", "false"]).default("true"),
  /** The agent's labels, to which constraints of experiments refer, as "zone=a,rack=r3". */
  TRAINYARD_AGENT_LABELS: z.string().default("").transform(readLabels),
  /**
   * FIRST-LAST: each experiment's runs have a user of their own with an id of this range; empty for the agent's own
   * user.
   */
  TRAINYARD_AGENT_USER_IDS: z.string().default("").transform(userRange),
  /**
   * FIRST-LAST: each task's runs have a user of their own with an id of this range, which has no id of the range above;
   * empty if the agent refuses tasks, or has no users of runs.
   */
  TRAINYARD_AGENT_TASK_USER_IDS: z.string().default("").transform(userRange),
  /** Groups of these users besides their own, by name or number, separated by commas: of devices, of a storage. */
  TRAINYARD_AGENT_USER_GROUPS: z.string().default(""),
  /**
   * Variables of the agent that runs with users of their own get besides the usual ones, separated by commas; NAME* for
   * a prefix.
   */
  TRAINYARD_AGENT_USER_VARIABLES: z.string().default(""),
  TRAINYARD_ENV_FILE: z.string().min(1).optional(),
  TRAINYARD_POOL: z.string().min(1).default("default"),
  /**
   * The checkpoint folder of experiments that name no storage, as in the registry; without it their runs wait for the
   * registry's answer.
   */
  TRAINYARD_CHECKPOINT_DIR: z.string().default(""),
  /** The share of the free disk for sealed checkpoints that wait for their upload; a save beyond it waits. */
  TRAINYARD_CHECKPOINT_DISK_SHARE: z.coerce.number().gt(0).max(1).default(0.5),
  /** The largest folder of a notebook, a shell or a command with keep_work that is saved; empty for no limit. */
  TRAINYARD_AGENT_WORK_BYTES: size.default("10GiB"),
  /** The most files of such a folder. */
  TRAINYARD_AGENT_WORK_FILES: z.coerce.number().int().positive().default(100_000),
  /** The seconds between two saves of such a folder while its task runs, each only if something has changed. */
  TRAINYARD_AGENT_WORK_SECONDS: z.coerce.number().positive().max(86_400).default(600),
  /** The most bytes of copies of files for the run of a TensorBoard; empty for no limit. */
  TRAINYARD_AGENT_TENSORBOARD_BYTES: size.default("10GiB"),
  /** A folder with the Python package `trainyard` for training processes; without it they use the installed package. */
  TRAINYARD_SDK_PATH: z.string().min(1).optional(),
  TRAINYARD_API_URL: z.string().min(1),
  TRAINYARD_METRICS_URL: z.string().min(1),
  ...containerVariables,
});

export type AgentConfig = ProcessConfig & {
  readonly name: string;
  readonly folder: string;
  readonly offer: OfferSettings;
  readonly address: string;
  readonly pool: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly processGroups: ProcessMechanism | "auto";
  readonly slotLimits: SlotLimits;
  readonly privateTmp: boolean;
  readonly container: ContainerConfig;
  readonly users: UserSettings;
  readonly checkpointDir: string;
  /** The share of the free disk that sealed checkpoints may take: above 0, at most 1. */
  readonly checkpointDiskShare: number;
  /** The limits of the folders of tasks that are saved, and the interval of saves while a task runs. */
  readonly work: WorkLimits & { readonly everyMs: number };
  readonly tensorBoardBytes: number;
  /** Null if training processes use the installed package. */
  readonly sdkPath: string | null;
  readonly apiUrl: string;
  readonly metricsUrl: string;
  /** The variables of this process that training processes inherit. */
  readonly inherited: Readonly<Record<string, string>>;
};

export function parseConfig(environment: Readonly<Record<string, string>>): AgentConfig {
  const env = parseEnvironment(schema, environment);
  const shared = processOf(env);
  const { http } = shared;
  const isLocal = http.host === "127.0.0.1" || http.host === "localhost";
  return {
    ...shared,
    name: env.TRAINYARD_AGENT_NAME,
    folder: env.TRAINYARD_AGENT_DIR,
    offer: {
      slotType: env.TRAINYARD_AGENT_SLOT_TYPE,
      visibleDevices: listOf(env.TRAINYARD_AGENT_VISIBLE_DEVICES),
      artificialSlots: env.TRAINYARD_AGENT_ARTIFICIAL_SLOTS,
      cpuSlots: env.TRAINYARD_AGENT_SLOTS,
    },
    address: env.TRAINYARD_AGENT_ADDRESS ?? (isLocal ? "127.0.0.1" : hostname()),
    pool: env.TRAINYARD_POOL,
    labels: env.TRAINYARD_AGENT_LABELS,
    processGroups: env.TRAINYARD_AGENT_PROCESS_GROUPS,
    slotLimits: {
      memoryBytes: bytesOf(env.TRAINYARD_AGENT_MEMORY),
      pids: env.TRAINYARD_AGENT_PIDS ?? null,
    },
    privateTmp: env.TRAINYARD_AGENT_PRIVATE_TMP === "true",
    container: containerConfigOf(env),
    users: {
      range: env.TRAINYARD_AGENT_USER_IDS,
      taskRange: env.TRAINYARD_AGENT_TASK_USER_IDS,
      groups: listOf(env.TRAINYARD_AGENT_USER_GROUPS),
      inherits: listOf(env.TRAINYARD_AGENT_USER_VARIABLES),
      settingsFile: env.TRAINYARD_ENV_FILE ?? null,
    },
    checkpointDir: env.TRAINYARD_CHECKPOINT_DIR,
    checkpointDiskShare: env.TRAINYARD_CHECKPOINT_DISK_SHARE,
    work: {
      bytesMax: bytesOf(env.TRAINYARD_AGENT_WORK_BYTES) ?? Number.MAX_SAFE_INTEGER,
      filesMax: env.TRAINYARD_AGENT_WORK_FILES,
      everyMs: env.TRAINYARD_AGENT_WORK_SECONDS * 1_000,
    },
    tensorBoardBytes: bytesOf(env.TRAINYARD_AGENT_TENSORBOARD_BYTES) ?? Number.MAX_SAFE_INTEGER,
    sdkPath: env.TRAINYARD_SDK_PATH ?? null,
    apiUrl: env.TRAINYARD_API_URL,
    metricsUrl: env.TRAINYARD_METRICS_URL,
    inherited: environment,
  };
}
