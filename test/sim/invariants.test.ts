import type { AnyEvent } from "@trainyard/contracts";
import {
  ExperimentOutcome,
  Fault,
  RunEndWhy,
  SearchCompletion,
  StopKind,
  StopMode,
  StopWhy,
  TaskOutcome,
  TrialOutcome,
} from "@trainyard/contracts/events";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { expect, test } from "vitest";
import { violationsOf } from "./invariants.ts";
import { configOf, documentOf, random } from "./submissions.ts";
import { Teller } from "./teller.ts";

type Told = readonly [stream: string, event: AnyEvent];

const created: Told = [
  "experiment-1",
  {
    type: "ExperimentCreated",
    data: {
      config: documentOf(configOf(random(3, 1), 1)),
      configSourceDigest: "",
      contextDigest: "",
      contextBytes: 0,
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
  },
];
const activated: Told = ["experiment-1", { type: "ExperimentActivated", data: {} }];
const paused: Told = ["experiment-1", { type: "ExperimentPaused", data: {} }];
const canceled: Told = [
  "experiment-1",
  { type: "ExperimentStopRequested", data: { kind: StopKind.CANCEL, reason: "" } },
];
const experimentEnded: Told = [
  "experiment-1",
  { type: "ExperimentEnded", data: { outcome: ExperimentOutcome.COMPLETED, reason: "" } },
];
const searchCompleted: Told = [
  "search-1",
  { type: "SearchCompleted", data: { reason: SearchCompletion.EXHAUSTED } },
];

function proposed(number: number): Told {
  const data = { number, hyperparameters: { lr: 1 }, seed: 5, searchVersion: 1, origin: "drawn" };
  return ["search-1", { type: "TrialProposed", data }];
}

function trialCreated(lr = 1): Told {
  const data = { experiment: "1", number: 1, hyperparameters: { lr }, seed: 5 };
  const none = { warmStartCheckpoint: "", sourceTrial: "", origin: "drawn" };
  return ["trial-1.1", { type: "TrialCreated", data: { ...data, ...none } }];
}

function requested(run: number, fromCheckpoint = "", fromStep = 0): Told {
  const data = {
    run,
    fromCheckpoint,
    fromStep,
    preemptible: true,
    experiment: "1",
    delayMs: 0,
    workspace: "",
    owner: "",
  };
  return ["trial-1.1", { type: "RunRequested", data }];
}

function runEnded(run: number, countsAsRestart = false, fault: Fault = Fault.SCRIPT): Told {
  const data = { run, why: RunEndWhy.FAILED, exits: [], message: "", countsAsRestart, fault };
  return ["trial-1.1", { type: "RunEnded", data }];
}

function lostRun(run: number): readonly Told[] {
  return [requested(run), runEnded(run, false, Fault.HOST)];
}

function stopAsked(why: StopWhy, graceMs: number): Told {
  const data = { run: 1, mode: StopMode.GRACEFUL, why, graceMs };
  return ["trial-1.1", { type: "RunStopRequested", data }];
}

const trialEnded: Told = [
  "trial-1.1",
  { type: "TrialEnded", data: { outcome: TrialOutcome.COMPLETED, reason: "", restarts: 0 } },
];
const outcomeRecorded: Told = [
  "search-1",
  { type: "TrialOutcomeRecorded", data: { trial: 1, outcome: TrialOutcome.COMPLETED } },
];

function granted(allocation: string): Told {
  const placements = [{ agent: "a1", slots: ["0"], nodeRank: 0, address: "" }];
  const data = { placements, masterAddress: "", masterPort: 0, tokenKey: "", folded: 0 };
  return [`allocation-${allocation}`, { type: "AllocationGranted", data }];
}

const createdAs = (kind: string): Told => [
  "task-t1",
  {
    type: "TaskCreated",
    data: {
      ...{ kind, config: { entrypoint: "true", max_restarts: 1 }, name: "true" },
      ...{ contextDigest: "", contextBytes: 0, owner: "", workspace: "", tokenId: "", sources: [] },
    },
  },
];
const taskCreated = createdAs("command");
const ofTask = ([, event]: Told): Told => ["task-t1", event];
const taskRun = (run: number): Told => ofTask(requested(run));
const taskRunEnded = (run: number, counts = false): Told => ofTask(runEnded(run, counts));
const taskEnded: Told = [
  "task-t1",
  { type: "TaskEnded", data: { outcome: TaskOutcome.FAILED, reason: "", restarts: 0 } },
];
const taskKilled: Told = ["task-t1", { type: "TaskKillRequested", data: { reason: "" } }];
const taskPaused: Told = ["task-t1", { type: "TaskPauseRequested", data: { reason: "" } }];
const taskSave: Told = [
  "task-t1",
  { type: "TaskSaved", data: { checkpoint: "c", run: 1, files: 1, bytes: 1, step: 1 } },
];
const taskResumed: Told = ["task-t1", { type: "TaskResumed", data: {} }];
const pausedEnd: Told = [
  "task-t1",
  { type: "TaskEnded", data: { outcome: TaskOutcome.PAUSED, reason: "", restarts: 0 } },
];
const ranOnce = [taskCreated, taskRun(1), taskRunEnded(1)] as const;
const pausing = [createdAs("notebook"), taskRun(1), taskPaused, taskRunEnded(1)] as const;

const lost: Told = ["agent-a1", { type: "AgentLost", data: { reason: "" } }];
const begun = [created, activated, proposed(1), trialCreated()] as const;
const checkpoint = "aaaaaaaa-0000-4000-8000-000000000001";

async function judged(history: readonly Told[]): Promise<readonly string[]> {
  const log = createMemoryLog();
  const teller = new Teller(log);
  for (const [stream, event] of history) await teller.tell(stream, [event]);
  return violationsOf(log);
}

test("a valid history has no violations", async () => {
  const history = [...begun, requested(1), runEnded(1), trialEnded, outcomeRecorded];
  expect(await judged([...history, searchCompleted, experimentEnded])).toEqual([]);
  expect(await judged([...ranOnce, taskEnded])).toEqual([]);
  expect(
    await judged([...pausing, pausedEnd, taskResumed, taskRun(2), taskRunEnded(2), taskEnded]),
  ).toEqual([]);
});

const wrong: readonly (readonly [string, readonly Told[]])[] = [
  ["run 1 had not ended", [...begun, requested(1), requested(2)]],
  ["run 3 is out of turn", [...begun, requested(1), runEnded(1), requested(3)]],
  ["must not run", [...begun, paused, requested(1)]],
  ["must not run", [...begun, canceled, requested(1)]],
  [
    "it is restart 2 of 1",
    [...begun, requested(1), runEnded(1, true), requested(2), runEnded(2, true), requested(3)],
  ],
  ["5 runs were lost", [...begun, ...[1, 2, 3, 4, 5].flatMap((run) => lostRun(run)), requested(6)]],
  ["cannot be started from", [...begun, requested(1, checkpoint, 10)]],
  ["is not the trial's unended one", [...begun, requested(1), runEnded(1), runEnded(1)]],
  [
    "it is no harsher stop",
    [...begun, requested(1), stopAsked(StopWhy.CANCEL, 1), stopAsked(StopWhy.PAUSE, 1)],
  ],
  [
    "the grace has grown",
    [...begun, requested(1), stopAsked(StopWhy.PAUSE, 1), stopAsked(StopWhy.CANCEL, 2)],
  ],
  ["not those that were proposed", [created, activated, proposed(1), trialCreated(2)]],
  ["the trial had ended", [...begun, trialEnded, requested(1)]],
  ["it was created before", [...begun, trialCreated()]],
  ["2 trials at a time", [...begun, proposed(2)]],
  ["the trial did not end so", [...begun, outcomeRecorded]],
  ["had not ended", [...begun, searchCompleted, experimentEnded]],
  ["the search was not complete", [...begun, trialEnded, experimentEnded]],
  ["the experiment had ended", [...begun, trialEnded, searchCompleted, experimentEnded, paused]],
  ["run 1 had not ended", [taskCreated, taskRun(1), taskRun(2)]],
  ["the end does not count", [...ranOnce, taskRun(2)]],
  [
    "it is restart 2 of 1",
    [1, 2, 3].flatMap((run) => [
      ...(run === 1 ? [taskCreated] : []),
      ...[taskRun(run), taskRunEnded(run, true)],
    ]),
  ],
  ["the task was killed", [...ranOnce.slice(0, 2), taskKilled, taskRunEnded(1, true), taskRun(2)]],
  ["the task had ended", [...ranOnce, taskEnded, taskRun(2)]],
  ["task t1 has not ended", [...ranOnce]],
  ["its work is not kept", [taskCreated, taskRun(1), taskPaused]],
  ["the task was paused", [...pausing, taskRun(2)]],
  ["nobody has paused it", [createdAs("shell"), taskRun(1), taskRunEnded(1), pausedEnd]],
  ["it cannot be resumed", [...ranOnce, taskEnded, taskResumed]],
  ["it is no save of its last run", [...ranOnce, taskSave]],
  ["it starts without its files", [...pausing, taskSave, pausedEnd, taskResumed, taskRun(2)]],
  ["it starts from c, not from", [createdAs("shell"), ofTask(requested(1, "c", 1))]],
  ["a1/0 is t1#1's", [granted("t1#1"), granted("1.2#1")]],
  ["a1/0 is 1.1#1's", [granted("1.1#1"), granted("1.2#1")]],
  ["a1 is lost", [lost, granted("1.1#1")]],
];

test.each(wrong)("a wrong history is reported: %s", async (what, history) => {
  expect((await judged(history)).join("\n")).toContain(what);
});
