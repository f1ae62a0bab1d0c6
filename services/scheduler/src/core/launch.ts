/** The message with which an agent starts its part of an allocation. */
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import {
  type DeviceKind,
  recordedConfig,
  recordedContainer,
  recordedPlace,
  searcherFacts,
} from "@trainyard/experiment-config/recorded";
import type { Agent, Allocation } from "./cluster/state.ts";
import type { ExperimentCode } from "./foreign/experiment.ts";
import type { TrialWork } from "./foreign/trial.ts";

export const notPlaced = "the run has no placement on this agent";

export function superseded(run: number, by: number): string {
  return `run ${run} was superseded by run ${by}`;
}

export type LaunchSources = {
  readonly experiment: ExperimentCode | null;
  readonly trial: TrialWork;
  readonly token: string;
  /** The name of the cluster's log. */
  readonly log: string;
};

/** Returns the launch, or the reason why the run's streams do not allow one. */
export function launchOf(
  allocation: Allocation,
  agent: Agent,
  { experiment, trial, token, log }: LaunchSources,
): Plain<Launch> | { readonly problem: string } {
  const { grant } = allocation;
  const placement = grant?.placements.find((one) => one.agent === agent.id);
  if (grant === null || placement === undefined) return { problem: notPlaced };
  if (experiment === null) return { problem: `experiment ${trial.experiment} is not known` };
  if (trial.run !== allocation.run) return { problem: superseded(allocation.run, trial.run) };
  const config = recordedConfig(experiment.config);
  const entrypoint = commandOf(config.entrypoint);
  if (entrypoint === null) return { problem: "the configuration has no entrypoint" };
  const device = deviceOf(agent, placement.slots);
  const { tensorboard_storage: tensorboards } = config;
  const container = recordedContainer(experiment.config, device);
  return {
    allocation: allocation.id,
    experiment: trial.experiment,
    trial: allocation.task,
    run: allocation.run,
    grantPosition: String(grant.position),
    token,
    entrypoint,
    hyperparameters: trial.hyperparameters,
    config: JSON.stringify(experiment.config),
    trialSeed: trial.seed,
    latestCheckpoint: trial.fromCheckpoint,
    stepsCompleted: trial.fromStep,
    contextDigest: experiment.contextDigest,
    environmentVariables: config.environment.environment_variables[device],
    slots: placement.slots,
    nodeRank: placement.nodeRank,
    nodes: grant.placements.length,
    masterAddress: grant.masterAddress,
    masterPort: grant.masterPort,
    nodeAddresses: addressesOf(grant.placements),
    requestId: allocation.request,
    checkpointStorage: recordedPlace(config.checkpoint_storage),
    ...(tensorboards === undefined ? {} : { tensorboardStorage: recordedPlace(tensorboards) }),
    container,
    proxyPorts: container.proxyPorts,
    searchNeedsMetric:
      config.early_stopping.length > 0 || searcherFacts(config.searcher.name).needsMetric,
    log,
    traceparent: grant.traceparent,
  };
}

function addressesOf(placements: NonNullable<Allocation["grant"]>["placements"]): string[] {
  const byRank = [...placements].sort((a, b) => a.nodeRank - b.nodeRank);
  return byRank.map(({ address }) => address);
}

export function commandOf(
  entrypoint: string | readonly string[],
): Plain<Launch>["entrypoint"] | null {
  if (entrypoint.length === 0) return null;
  return typeof entrypoint === "string"
    ? { case: "shell", value: entrypoint }
    : { case: "command", value: { arguments: [...entrypoint] } };
}

/** The kind of device of a run. A run without slots sees no device. An agent offers devices of one kind. */
export function deviceOf(agent: Agent, slots: readonly string[]): DeviceKind {
  if (slots.length === 0) return "cpu";
  const offered = agent.joined.slots;
  const device = (offered.find(({ id }) => id === slots[0]) ?? offered[0])?.device;
  return device === "cuda" || device === "rocm" ? device : "cpu";
}
