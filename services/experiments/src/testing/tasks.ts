/** Example events of tasks, which the tests of decisions and reactions share. */
import type { EventData, EventOf } from "@trainyard/contracts";
import { RunEndWhy, StopMode, StopWhy, type TaskOutcome } from "@trainyard/contracts/events";
import { runEnded, runRequested } from "./examples.ts";

type Config = NonNullable<EventData<"TaskCreated">["config"]>;

export const taskConfig: Config = {
  entrypoint: ["echo", "hello"],
  resources: { slots: 1, priority: 42, resource_pool: "default" },
};
/** A task whose runs make room for others, and which is run again twice after a failure. */
export const repeatedConfig: Config = {
  ...taskConfig,
  max_restarts: 2,
  resources: { slots: 1, priority: 42, resource_pool: "default", preemptible: true },
};

export function taskCreated(config: Config = taskConfig, kind = "command"): EventOf<"TaskCreated"> {
  const about = { kind, name: "echo hello", contextDigest: "", contextBytes: 0 };
  const whose = { owner: "ada", workspace: "lab", tokenId: "k1", sources: [] };
  return { type: "TaskCreated", data: { config, ...about, ...whose } };
}

export function taskRun(
  run = 1,
  overrides: Partial<EventData<"RunRequested">> = {},
): EventOf<"RunRequested"> {
  const resources = {
    ...{ pool: "default", slots: 1, priority: 42, weight: 1 },
    ...{ singleAgent: true, preemptionTimeoutMs: 300_000 },
  };
  const own = { experiment: "", preemptible: false, owner: "ada", workspace: "lab", resources };
  return runRequested(run, { ...own, ...overrides });
}

export const killStop = (run: number): EventOf<"RunStopRequested"> => ({
  type: "RunStopRequested",
  data: { run, mode: StopMode.KILL, why: StopWhy.KILL, graceMs: 0 },
});

export const killRequested = (reason = ""): EventOf<"TaskKillRequested"> => ({
  type: "TaskKillRequested",
  data: { reason },
});

export function taskEnded(
  outcome: TaskOutcome,
  reason: string,
  overrides: Partial<EventData<"TaskEnded">> = {},
): EventOf<"TaskEnded"> {
  return { type: "TaskEnded", data: { outcome, reason, restarts: 0, ...overrides } };
}

export const taskResumed: EventOf<"TaskResumed"> = { type: "TaskResumed", data: {} };

export const pauseRequested = (reason = ""): EventOf<"TaskPauseRequested"> => ({
  type: "TaskPauseRequested",
  data: { reason },
});

export const pauseStop = (run: number): EventOf<"RunStopRequested"> => ({
  type: "RunStopRequested",
  data: { run, mode: StopMode.GRACEFUL, why: StopWhy.PAUSE, graceMs: 300_000 },
});

/** A save of a run. Later ones have larger steps. */
export function taskSaved(checkpoint: string, run: number, step: number): EventOf<"TaskSaved"> {
  return { type: "TaskSaved", data: { checkpoint, run, step, files: 3, bytes: 9 } };
}

export const taskDeleted: EventOf<"TaskDeleted"> = { type: "TaskDeleted", data: {} };

export const runFinished = (run = 1): EventOf<"RunEnded"> => runEnded(run, RunEndWhy.FINISHED);
