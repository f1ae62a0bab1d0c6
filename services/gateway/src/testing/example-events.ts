import type { EventData, EventOf } from "@trainyard/contracts";

/** The holder of an agent's name, in AgentJoined and AgentReturned. */
export const agentHolder = { folder: "f1", place: "p1", startedMs: 1 };

/** The facts about an agent in AgentJoined, beside its offer. */
export const agentStart = {
  ...agentHolder,
  processGroups: "cgroup",
  protocol: 1,
  protocolOldest: 1,
};

export function created(
  over: Partial<EventData<"ExperimentCreated">>,
): EventOf<"ExperimentCreated"> {
  return {
    type: "ExperimentCreated",
    data: {
      configSourceDigest: "",
      contextDigest: "",
      contextBytes: 0,
      submissionDigest: "",
      tokenId: "",
      seed: 1,
      name: "example",
      description: "",
      labels: [],
      owner: "user:local",
      workspace: "",
      project: "",
      ...over,
    },
  };
}

export function taskCreated(over: Partial<EventData<"TaskCreated">> = {}): EventOf<"TaskCreated"> {
  return {
    type: "TaskCreated",
    data: {
      kind: "command",
      name: "sleep 9",
      config: { entrypoint: ["sleep", "9"] },
      contextDigest: "",
      contextBytes: 0,
      owner: "ada",
      workspace: "research",
      tokenId: "",
      sources: [],
      ...over,
    },
  };
}

export function searchStarted(): EventOf<"SearchStarted"> {
  return {
    type: "SearchStarted",
    data: {
      algorithm: "random",
      algorithmVersion: 1,
      metric: "loss",
      smallerIsBetter: true,
      timeMetric: "",
      seed: 1,
      trialsMax: 2,
      concurrentTrialsMax: 1,
    },
  };
}

export function trialCreated(number: number): EventOf<"TrialCreated"> {
  return {
    type: "TrialCreated",
    data: {
      experiment: "1",
      number,
      seed: 1,
      warmStartCheckpoint: "",
      sourceTrial: "",
      origin: "model",
      evidence: { search_version: 4 },
    },
  };
}

export function requested(run: number, fromStep: number): EventOf<"RunRequested"> {
  return {
    type: "RunRequested",
    data: {
      run,
      fromCheckpoint: "",
      fromStep,
      preemptible: true,
      experiment: "1",
      delayMs: 0,
      workspace: "",
      owner: "",
    },
  };
}

export function validation({
  step,
  loss,
  run = 1,
}: {
  readonly step: number;
  readonly loss: number;
  readonly run?: number;
}): EventOf<"ValidationReported"> {
  return {
    type: "ValidationReported",
    data: { trial: "1.1", run, step, scalars: { loss }, reportKey: `0-${step}`, nonNumeric: [] },
  };
}
