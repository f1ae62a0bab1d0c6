/** The message with which an agent starts a run of a task, which has one node. */
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import { recordedContainer, recordedTask } from "@trainyard/experiment-config/recorded";
import type { Agent, Allocation } from "./cluster/state.ts";
import type { TaskWork } from "./foreign/task.ts";
import { commandOf, deviceOf, type LaunchSources, notPlaced, superseded } from "./launch.ts";

export type TaskLaunchSources = Pick<LaunchSources, "token" | "log"> & {
  readonly task: TaskWork | null;
  /** The secret by which the task's server knows the gateway. */
  readonly secret: string;
};

/** Returns the launch, or the reason why the task's stream does not allow one. */
export function taskLaunchOf(
  allocation: Allocation,
  agent: Agent,
  { task, token, secret, log }: TaskLaunchSources,
): Plain<Launch> | { readonly problem: string } {
  const { grant } = allocation;
  const placement = grant?.placements.find((one) => one.agent === agent.id);
  if (grant === null || placement === undefined) return { problem: notPlaced };
  if (task === null) return { problem: `task ${allocation.task} is not known` };
  if (task.run !== allocation.run) return { problem: superseded(allocation.run, task.run) };
  const { entrypoint: command, variables } = recordedTask(task.config, task.kind);
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
    task: { id: allocation.task, kind: task.kind, secret },
    run: allocation.run,
    grantPosition: String(grant.position),
    token,
    entrypoint: entrypoint ?? { case: undefined },
    config: JSON.stringify(task.config),
    trialSeed: 0,
    latestCheckpoint: "",
    stepsCompleted: 0,
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
  };
}
