import type { AnyEvent } from "@trainyard/contracts";
import { RunEndWhy } from "@trainyard/contracts/events";
import { experimentPhase, trialPhase } from "@trainyard/contracts/state-words";
import { assert } from "@trainyard/kernel";
import { expect, test } from "vitest";
import {
  created,
  requested,
  searchStarted,
  trialCreated,
} from "../../../testing/example-events.ts";
import { DocumentSet } from "./documents.ts";
import { project } from "./project.ts";

type At = readonly [stream: string, event: AnyEvent];

const asha = { name: "asha", max_trials: 9, max_time: 9, min_time: 1, divisor: 3 };

const begun: readonly At[] = [
  ["experiment-1", created({})],
  ["experiment-1", { type: "ExperimentActivated", data: {} } as AnyEvent],
  [
    "search-1",
    {
      type: "SearchStarted",
      data: {
        ...searchStarted().data,
        trialsMax: 9,
        searcher: { metric: "loss", smaller_is_better: true, ...asha },
      },
    } as AnyEvent,
  ],
  ["trial-1.1", trialCreated(1)],
];
const granted = (run: number): At => [
  `allocation-1.1#${run}`,
  {
    type: "AllocationGranted",
    data: {
      placements: [{ agent: "a", slots: ["0"], nodeRank: 0, address: "" }],
      masterAddress: "",
      masterPort: 0,
      tokenKey: "",
      folded: 0,
    },
  } as AnyEvent,
];
const started = (run: number): At => [
  "trial-1.1",
  { type: "RunStarted", data: { run } } as AnyEvent,
];
const ended = (run: number, why: RunEndWhy): At => [
  "trial-1.1",
  { type: "RunEnded", data: { run, why, message: "", countsAsRestart: false } } as AnyEvent,
];
const ask = (run: number): At => ["trial-1.1", requested(run, 0)];
const suspended: At = [
  "search-1",
  { type: "TrialSuspended", data: { trial: 1, rung: 1, rule: "halving" } } as AnyEvent,
];
const resumed: At = [
  "search-1",
  { type: "TrialResumed", data: { trial: 1, target: 9, rung: 1, rule: "halving" } } as AnyEvent,
];

/** The phases of the experiment and its trial after events. */
function phasesAfter(...events: readonly At[]): readonly string[] {
  const documents = new DocumentSet();
  for (const [at, [stream, event]] of [...begun, ...events].entries()) {
    project({ stream, timeMs: at * 1_000, position: at + 1 }, event, documents);
  }
  const experiment = documents.get("experiment", "1");
  const trial = documents.get("trial", "1.1");
  assert(experiment !== undefined && trial !== undefined, "both were created");
  return [experimentPhase(experiment).word, trialPhase(trial).word];
}

test("an experiment of which nothing runs yet is queued, then it starts, then it runs", () => {
  expect(phasesAfter()).toEqual(["queued", "queued"]);
  expect(phasesAfter(ask(1))).toEqual(["queued", "queued"]);
  expect(phasesAfter(ask(1), granted(1))).toEqual(["starting", "starting"]);
  expect(phasesAfter(ask(1), granted(1), started(1))).toEqual(["running", "running"]);
});

test("a run that ended before it trained does not start any longer", () => {
  const lost = ended(1, RunEndWhy.LOST);
  expect(phasesAfter(ask(1), granted(1), lost)).toEqual(["queued", "queued"]);
  expect(phasesAfter(ask(1), lost, granted(1))[0]).toBe("queued");
  const again = [ask(2), granted(2), started(2)];
  expect(phasesAfter(ask(1), granted(1), lost, ...again)).toEqual(["running", "running"]);
});

test("a trial that the search suspended is suspended at its rung until it is resumed", () => {
  const stops = [ask(1), granted(1), started(1), suspended, ended(1, RunEndWhy.ACKNOWLEDGED_STOP)];
  expect(phasesAfter(...stops)).toEqual(["queued", "suspended at rung 2"]);
  expect(phasesAfter(...stops, resumed, ask(2))).toEqual(["queued", "queued"]);
});
