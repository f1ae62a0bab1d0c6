import type { AnyEvent } from "@trainyard/contracts";
import { ExperimentOutcome, RunEndWhy, TrialOutcome } from "@trainyard/contracts/events";
import { expect, test } from "vitest";
import {
  created,
  requested,
  searchStarted,
  trialCreated,
  validation,
} from "../../../testing/example-events.ts";
import { DocumentSet } from "./documents.ts";
import { project } from "./project.ts";

type At = readonly [stream: string, event: AnyEvent];

/** The documents of experiment 1 after events, one a second. */
function after(...events: readonly At[]) {
  const documents = new DocumentSet();
  let position = 0;
  for (const [stream, event] of events) {
    position += 1;
    project({ stream, timeMs: position * 1_000, position }, event, documents);
  }
  return {
    experiment: documents.get("experiment", "1"),
    trial: documents.get("trial", "1.1"),
    second: documents.get("trial", "1.2"),
  };
}

const search = (searcher: object, trialsMax: number): At => [
  "search-1",
  {
    type: "SearchStarted",
    data: {
      ...searchStarted().data,
      trialsMax,
      searcher: { metric: "loss", smaller_is_better: true, ...searcher },
    },
  } as AnyEvent,
];
const single = (maxTime?: number): readonly At[] => [
  ["experiment-1", created({})],
  ["experiment-1", { type: "ExperimentActivated", data: {} } as AnyEvent],
  search({ name: "single", ...(maxTime === undefined ? {} : { max_time: maxTime }) }, 1),
  ["trial-1.1", trialCreated(1)],
  ["trial-1.1", requested(1, 0)],
  ["trial-1.1", { type: "RunStarted", data: { run: 1 } } as AnyEvent],
];
const observed = (time: number, run = 1, trial = 1): At => [
  "search-1",
  {
    type: "ObservationRecorded",
    data: { trial, run, time, values: {}, measurement: `${run}-${time}`, repeat: false },
  } as AnyEvent,
];
const reported = (percent: number, run = 1): At => [
  "measurement-1.1",
  { type: "ProgressReported", data: { run, percent, atMs: 0 } },
];
const trialEnded = (outcome: TrialOutcome, trial = 1): At => [
  `trial-1.${trial}`,
  { type: "TrialEnded", data: { outcome, reason: "", restarts: 0 } } as AnyEvent,
];
const runEnded = (run = 1): At => [
  "trial-1.1",
  {
    type: "RunEnded",
    data: { run, why: RunEndWhy.FAILED, exits: [], message: "", countsAsRestart: false },
  } as AnyEvent,
];
const experimentEnded = (outcome: ExperimentOutcome): At => [
  "experiment-1",
  { type: "ExperimentEnded", data: { outcome, reason: "" } } as AnyEvent,
];

test("a running experiment of one trial has the progress that its code reports", () => {
  const { experiment, trial } = after(...single(), reported(66));
  expect(trial).toMatchObject({ progress: 0.66 });
  expect(experiment).toMatchObject({ progress: 0.66 });
});

test("without a report, the progress is the time by max_time", () => {
  const { experiment, trial } = after(...single(60), observed(15));
  expect(trial).toMatchObject({ progress: 0.25 });
  expect(experiment).toMatchObject({ progress: 0.25 });
});

test("a failed or canceled experiment keeps the progress at which it ended, and a completed one has all", () => {
  const at = [...single(200), observed(45)];
  const failed = after(
    ...at,
    trialEnded(TrialOutcome.FAILED),
    experimentEnded(ExperimentOutcome.FAILED),
  );
  expect(failed.experiment).toMatchObject({ state: "ERROR", progress: 0.225 });
  expect(failed.trial).toMatchObject({ state: "ERROR", progress: 0.225 });
  const canceled = after(
    ...at,
    trialEnded(TrialOutcome.CANCELED),
    experimentEnded(ExperimentOutcome.CANCELED),
  );
  expect(canceled.experiment).toMatchObject({ state: "CANCELED", progress: 0.225 });
  expect(canceled.trial).toMatchObject({ state: "CANCELED", progress: 0.225 });
  const completed = after(
    ...at,
    trialEnded(TrialOutcome.COMPLETED),
    experimentEnded(ExperimentOutcome.COMPLETED),
  );
  expect(completed.experiment).toMatchObject({ state: "COMPLETED", progress: 1 });
  expect(completed.trial).toMatchObject({ state: "COMPLETED", progress: 1 });
});

test("progress falls only when a trial repeats its work", () => {
  const at = [...single(100), observed(50), observed(30)];
  expect(after(...at).experiment).toMatchObject({ progress: 0.5 });
  const again = after(...at, ["trial-1.1", requested(2, 20)], observed(30, 2));
  expect(again.experiment).toMatchObject({ progress: 0.3 });
  expect(again.trial).toMatchObject({ progress: 0.3 });
});

test("the time in which it ran counts without pauses, and gives the estimated end", () => {
  // The run starts at 6 s; the observation of a quarter arrives at 7 s.
  const running = after(...single(60), observed(15)).experiment;
  expect(running).toMatchObject({ ranMs: 0, runningSinceMs: 6_000, estimatedEndAtMs: 10_000 });
  // The start of a run is most of the time before the first reports.
  expect(after(...single(60), observed(1)).experiment).not.toHaveProperty("estimatedEndAtMs");
  expect(after(...single(60), observed(1)).trial).not.toHaveProperty("estimatedEndAtMs");
  const paused = after(...single(60), observed(15), runEnded());
  expect(paused.experiment).toMatchObject({ ranMs: 2_000, progress: 0.25 });
  expect(paused.experiment).not.toHaveProperty("runningSinceMs");
  expect(paused.experiment).not.toHaveProperty("estimatedEndAtMs");
  expect(paused.trial).toMatchObject({ ranMs: 2_000 });
  expect(paused.trial).not.toHaveProperty("estimatedEndAtMs");
});

test("a validation between two reports of progress leaves the estimated end as it is", () => {
  // The run starts at 6 s, and has trained a fifth at 7 s.
  const at = [...single(), reported(20)];
  expect(after(...at).experiment).toMatchObject({ estimatedEndAtMs: 11_000 });
  const { experiment, trial } = after(...at, observed(5), observed(6));
  expect(experiment).toMatchObject({ progress: 0.2, estimatedEndAtMs: 11_000 });
  expect(trial).toMatchObject({ progress: 0.2, estimatedEndAtMs: 11_000 });
});

test("a suspended trial of a halving search has nothing left until it is promoted", () => {
  const halving = {
    name: "asha",
    max_trials: 3,
    max_time: 9,
    min_time: 3,
    divisor: 3,
    time_metric: "",
    max_concurrent_trials: 3,
    resume: true,
  };
  const at: readonly At[] = [
    ["experiment-1", created({})],
    search(halving, 3),
    ...[1, 2, 3].map((number): At => [`trial-1.${number}`, trialCreated(number)]),
  ];
  const suspended = (trial: number): At => [
    "search-1",
    { type: "TrialSuspended", data: { trial, rung: 0, rule: "", evidence: {} } } as AnyEvent,
  ];
  const resumed: At = [
    "search-1",
    {
      type: "TrialResumed",
      data: { trial: 1, target: 9, rung: 0, rule: "", evidence: {} },
    } as AnyEvent,
  ];
  const first = [1, 2, 3].flatMap((trial) => [observed(3, 1, trial), suspended(trial)]);
  // Three trials of three units, and one that trains six more.
  expect(after(...at, ...first).experiment?.progress).toBeCloseTo(9 / 15);
  expect(after(...at, ...first, resumed, observed(6)).experiment?.progress).toBeCloseTo(12 / 15);
});

test("a search whose client tells its progress shows that", () => {
  const told = {
    type: "OperationsPosted",
    data: { operations: [{ id: "p", operation: { case: "progress", value: { progress: 0.25 } } }] },
  } as unknown as AnyEvent;
  const { experiment } = after(...single(100), ["search-1", told], observed(80));
  expect(experiment).toMatchObject({ progress: 0.25 });
});

test("a trial that completed without the searcher's metric has a warning, and one with NaN", () => {
  const silent = after(...single(), trialEnded(TrialOutcome.COMPLETED));
  expect(silent.trial).toMatchObject({ warning: "no value of loss was reported" });
  expect(silent.experiment).toMatchObject({
    warning: "1 trial completed without a value of loss",
  });
  const good: At = ["measurement-1.1", validation({ step: 1, loss: 0.5 })];
  const nan: At = ["measurement-1.1", validation({ step: 2, loss: Number.NaN })];
  const ended = after(...single(), good, nan, trialEnded(TrialOutcome.COMPLETED));
  expect(ended.experiment).toMatchObject({
    warning: "1 trial reported NaN or infinite values of loss",
  });
  expect(after(...single(), good, nan).experiment).toMatchObject({ warning: "" });
  expect(after(...single(), good, trialEnded(TrialOutcome.COMPLETED)).trial).toMatchObject({
    warning: "",
  });
  const failed = after(...single(), trialEnded(TrialOutcome.FAILED));
  expect(failed.experiment).toMatchObject({ warning: "" });
});

test("a value that arrives after the end of its trial removes the warning", () => {
  const late: At = ["measurement-1.1", validation({ step: 1, loss: 0.5 })];
  const { experiment, trial } = after(...single(), trialEnded(TrialOutcome.COMPLETED), late);
  expect(trial).toMatchObject({ warning: "" });
  expect(experiment).toMatchObject({ warning: "" });
});
