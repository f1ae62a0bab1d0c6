/** Example events of the experiments service and of its sources. */
import type { EventData, EventOf } from "@trainyard/contracts";
import type { TrialOutcome } from "@trainyard/contracts/events";
import {
  AllocationEndCause,
  EndReason,
  Fault,
  RunEndWhy,
  StopKind,
  StopMode,
  StopWhy,
} from "@trainyard/contracts/events";
import { limits } from "../limits.ts";

export const exampleConfig = {
  name: "iris",
  description: "",
  labels: ["demo"],
  workspace: "lab",
  project: "",
  entrypoint: "python3 train.py",
  max_restarts: 2,
  resources: { slots_per_trial: 1, priority: 42, resource_pool: "default" },
  searcher: { name: "single", metric: "loss", smaller_is_better: true },
  hyperparameters: {},
};

/** A place that always exists. */
export const examplePlace = {
  workspace: "default",
  project: "default",
  workspaceId: "default",
  projectId: "default",
};

export const exampleResources = {
  pool: "default",
  slots: 1,
  priority: 42,
  weight: 1,
  singleAgent: false,
  preemptionTimeoutMs: 3_600_000,
};

export const checkpointA = "aaaaaaaa-0000-4000-8000-000000000001";
export const checkpointB = "bbbbbbbb-0000-4000-8000-000000000002";

export function experimentCreated(
  config: EventData<"ExperimentCreated">["config"] = exampleConfig,
): EventOf<"ExperimentCreated"> {
  return {
    type: "ExperimentCreated",
    data: {
      ...(config === undefined ? {} : { config }),
      configSourceDigest: "",
      contextDigest: "",
      contextBytes: 0,
      submissionDigest: "",
      tokenId: "",
      seed: 7,
      name: "iris",
      description: "",
      labels: ["demo"],
      owner: "",
      workspace: "lab",
      project: "",
    },
  };
}

export const activated: EventOf<"ExperimentActivated"> = { type: "ExperimentActivated", data: {} };
export const paused: EventOf<"ExperimentPaused"> = { type: "ExperimentPaused", data: {} };

export function stopRequested(
  kind: StopKind = StopKind.CANCEL,
): EventOf<"ExperimentStopRequested"> {
  return { type: "ExperimentStopRequested", data: { kind, reason: "enough" } };
}

export function trialCreated(number = 1, warmStartCheckpoint = ""): EventOf<"TrialCreated"> {
  return {
    type: "TrialCreated",
    data: {
      experiment: "12",
      number,
      hyperparameters: { lr: 0.1 },
      seed: 99,
      warmStartCheckpoint,
      sourceTrial: "",
      origin: "drawn",
    },
  };
}

type Overrides = Partial<EventData<"RunRequested">>;

export function runRequested(run = 1, overrides: Overrides = {}): EventOf<"RunRequested"> {
  return {
    type: "RunRequested",
    data: {
      run,
      fromCheckpoint: "",
      fromStep: 0,
      resources: exampleResources,
      preemptible: true,
      experiment: "12",
      delayMs: 0,
      owner: "",
      workspace: "lab",
      ...overrides,
    },
  };
}

export function runStarted(run = 1): EventOf<"RunStarted"> {
  return { type: "RunStarted", data: { run, allocation: `12.1#${run}`, startedAtMs: 0 } };
}

const graceByWhy: Readonly<Record<number, number>> = {
  [StopWhy.PAUSE]: limits.preemptionGraceMs,
  [StopWhy.SEARCH_SUSPEND]: limits.preemptionGraceMs,
  [StopWhy.SEARCH_STOP]: limits.searchStopGraceMs,
  [StopWhy.CANCEL]: limits.cancelGraceMs,
};

export function runStopRequested(
  run: number,
  why: StopWhy,
  graceMs: number = graceByWhy[why] ?? 0,
): EventOf<"RunStopRequested"> {
  const mode = why === StopWhy.KILL ? StopMode.KILL : StopMode.GRACEFUL;
  return { type: "RunStopRequested", data: { run, mode, why, graceMs } };
}

export function runStopWithdrawn(run: number): EventOf<"RunStopWithdrawn"> {
  return { type: "RunStopWithdrawn", data: { run } };
}

export function runEnded(
  run: number,
  why: RunEndWhy,
  overrides: Partial<EventData<"RunEnded">> = {},
): EventOf<"RunEnded"> {
  const faults: Partial<Record<RunEndWhy, Fault>> = {
    [RunEndWhy.FAILED]: Fault.SCRIPT,
    [RunEndWhy.LOST]: Fault.HOST,
  };
  const fault = overrides.fault ?? faults[why];
  const countsAsRestart = fault === Fault.SCRIPT;
  const tried = fault === undefined ? {} : { fault, triesInRow: 1 };
  return {
    type: "RunEnded",
    data: { run, why, exits: [], message: "", countsAsRestart, ...tried, ...overrides },
  };
}

export function runCheckpointsNamed(
  run: number,
  checkpoints: EventData<"RunCheckpointsNamed">["checkpoints"],
  awaitedUntilMs: number,
): EventOf<"RunCheckpointsNamed"> {
  return { type: "RunCheckpointsNamed", data: { run, checkpoints, awaitedUntilMs } };
}

export function trialCheckpointed(
  checkpoint = checkpointA,
  run = 1,
  step = 100,
): EventOf<"TrialCheckpointed"> {
  return { type: "TrialCheckpointed", data: { checkpoint, run, step } };
}

export function trialEnded(
  outcome: TrialOutcome,
  reason: string,
  restarts = 0,
): EventOf<"TrialEnded"> {
  return { type: "TrialEnded", data: { outcome, reason, restarts } };
}

export function checkpointCompleted(
  run = 1,
  step = 100,
  trial = "12.1",
): EventOf<"CheckpointCompleted"> {
  return {
    type: "CheckpointCompleted",
    data: { manifestDigest: "d", files: 1, bytes: 10, trial, run, step },
  };
}

export function trialProposed(number = 1, startFromTrial?: number): EventOf<"TrialProposed"> {
  return {
    type: "TrialProposed",
    data: {
      number,
      hyperparameters: { lr: 0.1 },
      seed: 99,
      searchVersion: 1,
      origin: "model",
      evidence: { mean: 0.5 },
      ...(startFromTrial === undefined ? {} : { startFromTrial }),
    },
  };
}

export const trialStopDecided: EventOf<"TrialStopDecided"> = {
  type: "TrialStopDecided",
  data: { trial: 1, rule: "asha" },
};
export const trialSuspended: EventOf<"TrialSuspended"> = {
  type: "TrialSuspended",
  data: { trial: 1, rung: 0, rule: "asha" },
};
export const trialResumed: EventOf<"TrialResumed"> = {
  type: "TrialResumed",
  data: { trial: 1, target: 10, rung: 0, rule: "halving" },
};

export const allocationStarted: EventOf<"AllocationStarted"> = {
  type: "AllocationStarted",
  data: { starts: [] },
};

export function allocationGranted(agent: string): EventOf<"AllocationGranted"> {
  const placements = [{ agent, slots: ["0"], nodeRank: 0, address: "" }];
  return {
    type: "AllocationGranted",
    data: { placements, masterAddress: "", masterPort: 0, tokenKey: "", folded: 0 },
  };
}

/** Makes the end of an allocation; its process ended by itself unless another cause is given. */
export function allocationEnded(
  overrides: Partial<EventData<"AllocationEnded">> = {},
): EventOf<"AllocationEnded"> {
  return {
    type: "AllocationEnded",
    data: { cause: AllocationEndCause.EXITED, exits: [exit(0)], message: "", ...overrides },
  };
}

export function exit(code: number, signal = ""): EventData<"AllocationEnded">["exits"][number] {
  const base = { nodeRank: 0, agent: "a1", signal, message: "" };
  return signal === "" ? { ...base, code } : base;
}

export const finished = allocationEnded({
  endRecord: { reason: EndReason.FINISHED, message: "" },
});
export const acknowledged = allocationEnded({
  endRecord: { reason: EndReason.ACKNOWLEDGED_STOP, message: "" },
});
export const crashed = allocationEnded({
  exits: [exit(1)],
  endRecord: { reason: EndReason.ERROR, message: "ValueError: boom" },
});
export const withdrawn = allocationEnded({ cause: AllocationEndCause.WITHDRAWN, exits: [] });
export const agentLost = allocationEnded({
  cause: AllocationEndCause.AGENT_LOST,
  exits: [],
  message: "agent a1 was not heard of for 60 s",
});
export const launchFailed = allocationEnded({
  cause: AllocationEndCause.LAUNCH_FAILED,
  exits: [],
  message: "the disk of a1 is full",
});
export const killed = allocationEnded({
  cause: AllocationEndCause.KILLED,
  exits: [exit(0, "SIGKILL")],
});
