/** What an agent needs to start its part of an allocation. */
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
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
  if (grant === null || placement === undefined) return { problem: "it has no place there" };
  if (experiment === null) return { problem: `experiment ${trial.experiment} is not known` };
  if (trial.run !== allocation.run) {
    return { problem: `run ${allocation.run} was superseded by run ${trial.run}` };
  }
  const entrypoint = entrypointOf(experiment.config["entrypoint"]);
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
    environmentVariables: variablesOf(experiment.config["environment"], deviceOf(agent)),
    slots: placement.slots,
    nodeRank: placement.nodeRank,
    nodes: grant.placements.length,
    masterAddress: grant.masterAddress,
    masterPort: grant.masterPort,
  };
}

function entrypointOf(value: unknown): Plain<Launch>["entrypoint"] | null {
  if (typeof value === "string" && value !== "") return { case: "shell", value };
  if (!Array.isArray(value) || value.length === 0) return null;
  return { case: "command", value: { arguments: value.map(String) } };
}

function deviceOf(agent: Agent): string {
  return agent.joined.slots[0]?.device ?? "cpu";
}

/** Variables are declared by the kind of device; a list is for every kind. */
function variablesOf(environment: unknown, device: string): readonly string[] {
  const declared = member(environment, "environment_variables");
  const list = Array.isArray(declared) ? declared : member(declared, device);
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}

function member(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as Record<string, unknown>)[key];
}
