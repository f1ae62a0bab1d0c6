import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import type { SearcherConfig } from "@trainyard/experiment-config";
import { describe, expect, it } from "vitest";
import type { SearchCommand } from "./commands.ts";
import { configOf, DrivenSearch, randomOf, spaceOfTwo, validation } from "./testing/searches.ts";

const { COMPLETED, STOPPED_EARLY, FAILED, CANCELED, INVALID_HYPERPARAMETERS } = TrialOutcome;

function started(trials = 3, searcher: Partial<SearcherConfig> = {}): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf({ ...randomOf(trials, 0), ...searcher } as SearcherConfig));
  return search;
}

const rejected = (search: DrivenSearch, command: SearchCommand): unknown =>
  search.machine.decide(command);

describe("StartSearch", () => {
  it("records the search's settings, then proposes trials", () => {
    const search = new DrivenSearch();
    const config = configOf(randomOf(1, 16));
    const [first, second] = search.start(config, 99);
    expect(first).toEqual({
      type: "SearchStarted",
      data: {
        algorithm: "random",
        algorithmVersion: 1,
        space: spaceOfTwo,
        searcher: config.searcher,
        metric: "loss",
        smallerIsBetter: true,
        timeMetric: "",
        seed: 99,
        trialsMax: 1,
        concurrentTrialsMax: 16,
        slotsPerTrial: 1,
      },
    });
    expect(second).toMatchObject({ type: "TrialProposed", data: { number: 1, searchVersion: 1 } });
  });

  it("changes nothing if the search has started already", () => {
    const search = started();
    expect(search.start(configOf(randomOf(9, 9)), 2)).toEqual([]);
  });

  it("is rejected if the algorithm is unknown", () => {
    const config = configOf({ ...randomOf(1, 1), name: "magic" } as unknown as SearcherConfig);
    expect(rejected(new DrivenSearch(), { type: "StartSearch", config, seed: 1 })).toMatchObject({
      rejected: "algorithm_unknown",
    });
  });
});

describe("RecordValidation", () => {
  it("records the metric's value at the report's step", () => {
    const search = started();
    expect(search.send(validation(2, 10, { loss: 0.5, accuracy: 0.9 }, { run: 3 }))).toEqual([
      {
        type: "ObservationRecorded",
        data: {
          trial: 2,
          run: 3,
          time: 10,
          values: { loss: 0.5 },
          measurement: "m-2-10",
          repeat: false,
        },
      },
    ]);
    expect(search.state.best).toEqual({ trial: 2, value: 0.5 });
  });

  it("is ignored if the report's run is not the trial's latest", () => {
    const search = started();
    expect(search.send(validation(1, 10, { loss: 0.1 }, { run: 1, currentRun: 2 }))).toEqual([]);
  });

  it("is ignored if the report's trial has ended", () => {
    const search = started();
    search.validate(1, 10, 0.5);
    search.end(1, COMPLETED);
    expect(search.send(validation(1, 20, { loss: 0.1 }))).toEqual([]);
    expect(search.state.best).toEqual({ trial: 1, value: 0.5 });
  });

  it("is ignored if the report is delivered again", () => {
    const search = started();
    search.validate(1, 10, 0.5);
    expect(search.validate(1, 10, 0.5)).toEqual([]);
  });

  it("is recorded without effect if the time was observed before", () => {
    const search = started();
    search.validate(1, 10, 0.5);
    search.validate(1, 20, 0.4);
    for (const step of [10, 20]) {
      const again = validation(
        1,
        step,
        { loss: 0.1 },
        { run: 2, currentRun: 2, measurement: `again${step}` },
      );
      expect(search.send(again)).toMatchObject([{ data: { time: step, repeat: true } }]);
    }
    expect(search.state.best).toEqual({ trial: 1, value: 0.4 });
  });

  it("counts an earlier time that was not observed before, once", () => {
    const search = started();
    search.validate(1, 20, 0.5);
    expect(search.validate(1, 15, 0.3)).toMatchObject([{ data: { repeat: false } }]);
    expect(search.send(validation(1, 15, { loss: 0.2 }, { measurement: "x" }))).toMatchObject([
      { data: { repeat: true } },
    ]);
    expect(search.state.best).toEqual({ trial: 1, value: 0.3 });
  });

  it("is rejected for a trial that was never proposed", () => {
    for (const trial of [0, 4]) {
      expect(rejected(started(), validation(trial, 1, { loss: 1 }))).toMatchObject({
        rejected: "trial_unknown",
      });
    }
  });
});

describe("the best trial", () => {
  it("never has a value that is not finite", () => {
    const search = started();
    for (const [step, loss] of [Number.NaN, -Infinity, Infinity].entries())
      search.validate(1, step, loss);
    expect(search.state.best).toBe(null);
    search.validate(2, 1, 1e300);
    search.validate(2, 2, -Infinity);
    expect(search.state.best).toEqual({ trial: 2, value: 1e300 });
  });

  it("is the first of two trials with the same value", () => {
    const search = started();
    search.validate(2, 1, 0.5);
    search.validate(1, 1, 0.5);
    expect(search.state.best).toEqual({ trial: 2, value: 0.5 });
  });

  it("has the largest value if larger is better", () => {
    const search = started(3, { smaller_is_better: false });
    search.validate(1, 1, 0.5);
    search.validate(2, 1, 0.7);
    search.validate(3, 1, 0.6);
    expect(search.state.best).toEqual({ trial: 2, value: 0.7 });
  });

  it("is replaced if its hyperparameters were invalid, by the earlier of equal ones", () => {
    const search = started(4);
    search.validate(4, 1, 0.3);
    search.validate(3, 1, 0.2);
    search.validate(2, 1, 0.3);
    search.end(3, INVALID_HYPERPARAMETERS);
    expect(search.state.best).toEqual({ trial: 4, value: 0.3 });
    search.send(validation(3, 2, { loss: 0.1 }));
    expect(search.state.best).toEqual({ trial: 4, value: 0.3 });
  });
});

describe("RecordOutcome", () => {
  it("is ignored for a trial that has ended already", () => {
    const search = started();
    search.end(1, COMPLETED);
    expect(search.end(1, FAILED)).toEqual([]);
  });

  it("is rejected for a trial that was never proposed", () => {
    expect(
      rejected(started(), { type: "RecordOutcome", trial: 9, outcome: COMPLETED }),
    ).toMatchObject({
      rejected: "trial_unknown",
    });
  });

  it("is rejected if the outcome is unspecified", () => {
    const command = { type: "RecordOutcome", trial: 1, outcome: TrialOutcome.UNSPECIFIED } as const;
    expect(rejected(started(), command)).toMatchObject({ rejected: "outcome_unknown" });
  });

  it.each([
    ["after a trained trial", [COMPLETED, FAILED], SearchCompletion.EXHAUSTED],
    ["after a trial that was stopped early", [STOPPED_EARLY, CANCELED], SearchCompletion.EXHAUSTED],
    ["as failed if every trial failed", [FAILED, FAILED], SearchCompletion.FAILED],
    [
      "as failed after failed and canceled trials only",
      [FAILED, CANCELED],
      SearchCompletion.FAILED,
    ],
    ["as canceled if every trial was canceled", [CANCELED, CANCELED], SearchCompletion.CANCELED],
  ])("ends the search %s", (_, outcomes, reason) => {
    const search = started(outcomes.length);
    for (const [index, outcome] of outcomes.entries()) search.end(index + 1, outcome);
    expect(search.completion()).toEqual({ reason });
    expect(search.state.phase).toBe("completed");
  });

  it("completes the search and records its best trial", () => {
    const search = started(2);
    search.validate(2, 1, 0.25);
    search.end(1, COMPLETED);
    search.end(2, FAILED);
    expect(search.completion()).toEqual({
      reason: SearchCompletion.EXHAUSTED,
      bestTrial: 2,
      bestValue: 0.25,
    });
  });
});

describe("a search that is finishing", () => {
  const finish = { type: "SearchStopDecided", data: { rule: "budget" } } as const;

  function finishing(trials: number): DrivenSearch {
    const search = new DrivenSearch();
    search.start(configOf(randomOf(trials, 2)));
    search.machine.apply(finish);
    return search;
  }

  it("proposes no more trials, and completes when its trials have ended", () => {
    const search = finishing(9);
    expect(search.end(1, COMPLETED)).toHaveLength(1);
    expect(search.end(2, STOPPED_EARLY)).toMatchObject([
      {},
      { type: "SearchCompleted", data: { reason: SearchCompletion.EXHAUSTED } },
    ]);
  });

  it("replaces no trial with invalid hyperparameters", () => {
    const search = finishing(9);
    expect(search.end(1, INVALID_HYPERPARAMETERS)).toHaveLength(1);
  });
});

describe("CancelSearch", () => {
  it("completes the search as canceled, with the best trial so far", () => {
    const search = started(3);
    search.validate(1, 1, 0.25);
    expect(search.send({ type: "CancelSearch" })).toEqual([
      {
        type: "SearchCompleted",
        data: { reason: SearchCompletion.CANCELED, bestTrial: 1, bestValue: 0.25 },
      },
    ]);
  });

  it("makes the search ignore all later inputs", () => {
    const search = started(3);
    search.send({ type: "CancelSearch" });
    expect(search.send({ type: "CancelSearch" })).toEqual([]);
    expect(search.end(1, CANCELED)).toEqual([]);
    expect(search.validate(1, 1, 0.5)).toEqual([]);
  });
});

describe("a search that was not started", () => {
  it.each<SearchCommand>([
    { type: "CancelSearch" },
    { type: "RecordOutcome", trial: 1, outcome: COMPLETED },
    validation(1, 1, { loss: 1 }),
  ])("refuses $type", (command) => {
    expect(rejected(new DrivenSearch(), command)).toMatchObject({ rejected: "search_unknown" });
  });
});
