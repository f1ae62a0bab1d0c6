/** The message with which an agent starts a run of a task, which has one node. */
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import {
  type RecordedTask,
  recordedContainer,
  recordedPlace,
  recordedTask,
} from "@trainyard/experiment-config/recorded";
import { limits } from "../limits.ts";
import type { Agent, Allocation } from "./cluster/state.ts";
import type { TaskWork } from "./foreign/task.ts";
import { commandOf, deviceOf, type LaunchSources, notPlaced, superseded } from "./launch.ts";

export type IdleDefaults = {
  readonly poolMs: number | undefined;
  readonly clusterMs: number | undefined;
};

export type TaskLaunchSources = Pick<LaunchSources, "token" | "log"> & {
  readonly task: TaskWork | null;
  /** The secret by which the task's server knows the gateway. */
  readonly secret: string;
  /** The idle timeouts of the pool and of the cluster, in milliseconds; undefined for none, 0 for never. */
  readonly idle: IdleDefaults;
};

/** Returns the launch, or the reason why the task's stream does not allow one. */
export function taskLaunchOf(
  allocation: Allocation,
  agent: Agent,
  { task, token, secret, idle, log }: TaskLaunchSources,
): Plain<Launch> | { readonly problem: string } {
  const { grant } = allocation;
  const placement = grant?.placements.find((one) => one.agent === agent.id);
  if (grant === null || placement === undefined) return { problem: notPlaced };
  if (task === null) return { problem: `task ${allocation.task} is not known` };
  if (task.run !== allocation.run) return { problem: superseded(allocation.run, task.run) };
  const recorded = recordedTask(task.config, task.kind);
  const { entrypoint: command, variables, checkpointStorage } = recorded;
  const entrypoint = commandOf(command);
  // The agent starts the terminals of a shell, and the servers of notebooks and TensorBoards.
  if (entrypoint === null && task.kind === "command") {
    return { problem: "the configuration has no entrypoint" };
  }
  const device = deviceOf(agent, placement.slots);
  const container = recordedContainer(task.config, device);
  return {
    allocation: allocation.id,
    experiment: "",
    trial: "",
    task: {
      ...{ id: allocation.task, kind: task.kind, secret },
      ...idleTimeoutOf(task.kind, recorded, idle, container.proxyPorts.length > 0),
    },
    run: allocation.run,
    grantPosition: String(grant.position),
    token,
    entrypoint: entrypoint ?? { case: undefined },
    config: JSON.stringify(task.config),
    trialSeed: 0,
    ...(checkpointStorage === null ? {} : { checkpointStorage: recordedPlace(checkpointStorage) }),
    latestCheckpoint: task.fromCheckpoint,
    stepsCompleted: task.fromStep,
    contextDigest: task.contextDigest,
    environmentVariables: variables[device],
    slots: placement.slots,
    nodeRank: placement.nodeRank,
    nodes: 1,
    masterAddress: grant.masterAddress,
    masterPort: grant.masterPort,
    nodeAddresses: [placement.address],
    requestId: allocation.request,
    container,
    proxyPorts: container.proxyPorts,
    searchNeedsMetric: false,
    log,
    traceparent: grant.traceparent,
  };
}

/**
 * Returns the time without use after which the agent ends the run: the configuration's, or else the pool's, or else the
 * cluster's. A command without ports is never idle, because nobody uses it.
 */
function idleTimeoutOf(
  kind: string,
  { idleTimeoutSeconds: own }: Pick<RecordedTask, "idleTimeoutSeconds">,
  { poolMs, clusterMs }: IdleDefaults,
  isServed: boolean,
): { readonly idleTimeoutSeconds?: number } {
  if (kind === "command" && !isServed) return {};
  const ofKindMs = kind === "tensorboard" ? limits.tensorboardIdleMs : 0;
  const seconds = own ?? (poolMs ?? clusterMs ?? ofKindMs) / 1_000;
  return seconds === 0 ? {} : { idleTimeoutSeconds: seconds };
}
