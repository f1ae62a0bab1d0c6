/** The events of other services that make up a run. */
import type { AnyEvent, EventData, EventOf } from "@trainyard/contracts";
import { spokenProtocol } from "@trainyard/contracts/agent";
import { isTaskId } from "@trainyard/kernel";

export type AskedResources = Partial<NonNullable<EventData<"RunRequested">["resources"]>>;

export type AskedRun = {
  readonly delayMs?: number;
  readonly workspace?: string;
  readonly owner?: string;
  readonly fromCheckpoint?: string;
  readonly fromStep?: number;
  readonly preemptible?: boolean;
  readonly avoided?: { readonly agents: readonly string[] };
};

/** The start and the version of an agent, in its reports and in AgentJoined. */
export const agentStart = {
  folder: "f1",
  place: "p1",
  startedMs: 1_000,
  processGroups: "cgroup",
  ...spokenProtocol,
};

type Config = EventOf<"ExperimentCreated">["data"]["config"];

export function experimentCreated(config: Readonly<Record<string, unknown>> = {}): AnyEvent {
  return {
    type: "ExperimentCreated",
    data: {
      config: { entrypoint: "python3 train.py", ...config } as Config,
      configSourceDigest: "",
      contextDigest: "abc",
      contextBytes: 1,
      submissionDigest: "",
      tokenId: "",
      seed: 1,
      name: "",
      description: "",
      labels: [],
      owner: "",
      workspace: "",
      project: "",
    },
  };
}

export function trialCreated(trial: string): AnyEvent {
  const [experiment = "", number] = trial.split(".");
  return {
    type: "TrialCreated",
    data: {
      experiment,
      number: Number(number),
      hyperparameters: { rate: 0.5 },
      seed: 9,
      warmStartCheckpoint: "",
      sourceTrial: "",
      origin: "drawn",
    },
  };
}

export function taskCreated(
  config: Readonly<Record<string, unknown>> = {},
  kind = "command",
): AnyEvent {
  return {
    type: "TaskCreated",
    data: {
      kind,
      config: { entrypoint: ["sleep", "60"], ...config } as Config,
      name: "sleep 60",
      contextDigest: "abc",
      contextBytes: 1,
      owner: "ada",
      workspace: "lab",
      tokenId: "",
      sources: [],
    },
  };
}

export function runRequested(
  allocation: string,
  resources: AskedResources = {},
  rest: AskedRun = {},
): AnyEvent {
  const [trial = "", run] = allocation.split("#");
  const defaults = { pool: "default", slots: 1, priority: 42, weight: 1, singleAgent: false };
  return {
    type: "RunRequested",
    data: {
      run: Number(run),
      fromCheckpoint: "",
      fromStep: 0,
      preemptible: true,
      experiment: isTaskId(trial) ? "" : (trial.split(".")[0] ?? ""),
      delayMs: 0,
      workspace: "",
      owner: "",
      ...rest,
      resources: { ...defaults, ...resources },
    },
  };
}
