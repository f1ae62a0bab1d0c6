/** Tests of the configuration that an experiment continues with, and of the refusals. */
import { ExperimentOutcome, StopKind, TrialOutcome } from "@trainyard/contracts/events";
import type { Continuation } from "@trainyard/experiment-config/recorded";
import { fold, isRejection } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import {
  activated,
  exampleConfig,
  experimentCreated,
  stopRequested,
} from "../../testing/examples.ts";
import { decideExperiment } from "./decide.ts";
import { evolveExperiment, initialExperiment } from "./evolve.ts";
import type { ExperimentEvent, ExperimentState } from "./state.ts";

const ended: ExperimentEvent = {
  type: "ExperimentEnded",
  data: { outcome: ExperimentOutcome.CANCELED, reason: "" },
};

function withoutRequest(event: ExperimentEvent | undefined): unknown {
  if (event?.type !== "ExperimentContinued") return event;
  const { request: _request, ...data } = event.data;
  return data;
}

function endedWith(searcher: object): ExperimentState {
  const config = {
    ...exampleConfig,
    searcher: { metric: "loss", smaller_is_better: true, ...searcher },
  };
  const events = [experimentCreated(config), activated, stopRequested(StopKind.KILL), ended];
  return fold(evolveExperiment, initialExperiment, events);
}

function answer(state: ExperimentState, change: Continuation, isUnfinished = true): unknown {
  const decided = decideExperiment(state, { kind: "continue", request: "r", change, isUnfinished });
  if (isRejection(decided)) return decided.rejected;
  return withoutRequest(decided[0]);
}

const random = { name: "random", max_trials: 8 };
const single = { name: "single", max_length: { epochs: 10 } };

describe("continuing an ended experiment", () => {
  test.each([
    ["runs the failed trials of random", random, {}, { continuation: 1 }],
    ["adds trials to random", random, { maxTrials: 9 }, { continuation: 1, maxTrials: 9 }],
    ["refuses an unchanged max_trials", random, { maxTrials: 8 }, "invalid_request"],
    ["refuses too many trials", random, { maxTrials: 1_000_001 }, "invalid_request"],
    ["runs the rest of a grid", { name: "grid" }, {}, { continuation: 1 }],
    [
      "refuses more trials for a whole grid",
      { name: "grid" },
      { maxTrials: 9 },
      "continue_unsupported",
    ],
    [
      "adds points to a part of a grid",
      { name: "grid", max_trials: 4 },
      { maxTrials: 9 },
      { continuation: 1, maxTrials: 9 },
    ],
    ["refuses a length for random", random, { maxLength: 9 }, "continue_unsupported"],
    [
      "lengthens a single",
      single,
      { maxLength: 11 },
      { continuation: 1, maxLength: 11, lengthUnit: "epochs" },
    ],
    [
      "lengthens a single in another unit",
      single,
      { maxLength: 3, lengthUnit: "batches" },
      { continuation: 1, maxLength: 3, lengthUnit: "batches" },
    ],
    ["refuses the same length for a single", single, { maxLength: 10 }, "invalid_request"],
    ["refuses an unknown unit", single, { maxLength: 30, lengthUnit: "hours" }, "invalid_request"],
    ["refuses trials for a single", single, { maxTrials: 2 }, "continue_unsupported"],
    [
      "gives a length to a single without one",
      { name: "single" },
      { maxLength: 1 },
      { continuation: 1, maxLength: 1, lengthUnit: "" },
    ],
    ["refuses asha", { name: "asha", max_trials: 8, max_time: 9 }, {}, "continue_unsupported"],
    ["refuses pbt", { name: "pbt", max_trials: 8, max_time: 9 }, {}, "continue_unsupported"],
    ["refuses custom", { name: "custom" }, {}, "continue_unsupported"],
  ])("%s", (_, searcher, change, outcome) => {
    expect(answer(endedWith(searcher), change)).toEqual(outcome);
  });

  test("is refused if nothing is left to do", () => {
    expect(answer(endedWith(random), {}, false)).toBe("nothing_to_continue");
    expect(answer(endedWith(single), {}, false)).toBe("nothing_to_continue");
    expect(answer(endedWith({ name: "grid" }), {}, false)).toBe("continue_unsupported");
    expect(answer(endedWith({ name: "grid", max_trials: 4 }), {}, false)).toBe(
      "nothing_to_continue",
    );
    expect(answer(endedWith(random), { maxTrials: 9 }, false)).toMatchObject({ maxTrials: 9 });
  });

  test("makes it active, without the stop that ended it, and it can be stopped again", () => {
    const state = fold(evolveExperiment, endedWith(random), [
      { type: "ExperimentContinued", data: { continuation: 1, maxTrials: 9, request: "before" } },
    ]);
    expect(state).toMatchObject({ status: "active", stop: null, size: { maxTrials: 9 } });
    expect(
      decideExperiment(state, { kind: "stop", stop: StopKind.CANCEL, reason: "" }),
    ).toHaveLength(1);
    const over = fold(evolveExperiment, state, [ended]);
    expect(answer(over, { maxTrials: 9 })).toBe("invalid_request");
    expect(answer(over, {})).toEqual({ continuation: 2 });
  });
});

describe("a restart", () => {
  const restart = (outcome: TrialOutcome | null, searcher: object = random): unknown => {
    const command = { kind: "restart_trial", request: "r", number: 3, outcome } as const;
    const decided = decideExperiment(endedWith(searcher), command);
    if (isRejection(decided)) return decided.rejected;
    return withoutRequest(decided[0]);
  };

  test.each([
    ["of a trial that failed", TrialOutcome.FAILED, { continuation: 1, trial: 3 }],
    ["of a trial that was canceled", TrialOutcome.CANCELED, { continuation: 1, trial: 3 }],
    ["of a trial that completed", TrialOutcome.COMPLETED, "trial_completed"],
    ["of a trial that was stopped early", TrialOutcome.STOPPED_EARLY, "trial_completed"],
    ["of an invalid trial", TrialOutcome.INVALID_HYPERPARAMETERS, "trial_invalid"],
    ["of a trial that has not ended", null, "trial_not_ended"],
  ])("%s has the expected outcome", (_, outcome, expected) => {
    expect(restart(outcome)).toEqual(expected);
  });

  test("is refused for a search that cannot continue", () => {
    expect(restart(TrialOutcome.FAILED, { name: "hyperband", max_time: 9 })).toBe(
      "continue_unsupported",
    );
  });
});
