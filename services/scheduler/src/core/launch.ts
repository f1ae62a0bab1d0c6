/** What an agent needs to start its part of an allocation. */
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import { recordedConfig, type VariablesByDevice } from "@trainyard/experiment-config/recorded";
import type { Agent, Allocation } from "./cluster/state.ts";
import type { ExperimentCode } from "./foreign/experiment.ts";
import type { TrialWork } from "./foreign/trial.ts";

export type LaunchSources = {
  readonly experiment: ExperimentCode | null;
  readonly trial: TrialWork;
  readonly token: string;
};

/** The launch, or why there can be none: what the run's own streams say does not make one up. */
export function launchOf(
  allocation: Allocation,
  agent: Agent,
  { experiment, trial, token }: LaunchSources,
): Plain<Launch> | { readonly problem: string } {
  const { grant } = allocation;
  const placement = grant?.placements.find((one) => one.agent === agent.id);
  if (grant === null || placement === undefined)
    return { problem: "the run has no placement on this agent" };
  if (experiment === null) return { problem: `experiment ${trial.experiment} is not known` };
  if (trial.run !== allocation.run) {
    return { problem: `run ${allocation.run} was superseded by run ${trial.run}` };
  }
  const config = recordedConfig(experiment.config);
  const entrypoint = commandOf(config.entrypoint);
  if (entrypoint === null) return { problem: "the configuration has no entrypoint" };
  return {
    allocation: allocation.id,
    experiment: trial.experiment,
    trial: allocation.task,
    run: allocation.run,
    grantPosition: String(grant.position),
    token,
    entrypoint,
    hyperparameters: trial.hyperparameters,
    config: experiment.config,
    trialSeed: trial.seed,
    latestCheckpoint: trial.fromCheckpoint,
    stepsCompleted: trial.fromStep,
    contextDigest: experiment.contextDigest,
    environmentVariables: variablesOf(agent, config.environment.environment_variables),
    slots: placement.slots,
    nodeRank: placement.nodeRank,
    nodes: grant.placements.length,
    masterAddress: grant.masterAddress,
    masterPort: grant.masterPort,
  };
}

function commandOf(entrypoint: string | readonly string[]): Plain<Launch>["entrypoint"] | null {
  if (entrypoint.length === 0) return null;
  return typeof entrypoint === "string"
    ? { case: "shell", value: entrypoint }
    : { case: "command", value: { arguments: [...entrypoint] } };
}

/** Variables are declared by the kind of device. */
function variablesOf(agent: Agent, declared: VariablesByDevice): readonly string[] {
  const device = agent.joined.slots[0]?.device ?? "cpu";
  return Object.hasOwn(declared, device) ? declared[device as keyof VariablesByDevice] : [];
}
