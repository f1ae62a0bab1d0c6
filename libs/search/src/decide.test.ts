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
  it("records what the search is, then proposes", () => {
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

  it("changes nothing the second time", () => {
    const search = started();
    expect(search.start(configOf(randomOf(9, 9)), 2)).toEqual([]);
  });

  it("refuses an algorithm that there is not", () => {
    const config = configOf({ ...randomOf(1, 1), name: "magic" } as unknown as SearcherConfig);
    expect(rejected(new DrivenSearch(), { type: "StartSearch", config, seed: 1 })).toMatchObject({
      rejected: "algorithm_unknown",
    });
  });
});

describe("RecordValidation", () => {
  it("records the metric's value at the step", () => {
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

  it("of a run that is not the latest any more is nothing", () => {
    const search = started();
    expect(search.send(validation(1, 10, { loss: 0.1 }, { run: 1, currentRun: 2 }))).toEqual([]);
  });

  it("that is delivered again is nothing", () => {
    const search = started();
    search.validate(1, 10, 0.5);
    expect(search.validate(1, 10, 0.5)).toEqual([]);
  });

  it("of a time that was observed before is recorded and changes nothing", () => {
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

  it("of an earlier time that was not observed counts, once", () => {
    const search = started();
    search.validate(1, 20, 0.5);
    expect(search.validate(1, 15, 0.3)).toMatchObject([{ data: { repeat: false } }]);
    expect(search.send(validation(1, 15, { loss: 0.2 }, { measurement: "x" }))).toMatchObject([
      { data: { repeat: true } },
    ]);
    expect(search.state.best).toEqual({ trial: 1, value: 0.3 });
  });

  it("of a trial that has ended still counts for the best", () => {
    const search = started();
    search.end(1, COMPLETED);
    search.validate(1, 10, 0.5);
    expect(search.state.best).toEqual({ trial: 1, value: 0.5 });
  });

  it("of a trial that was never proposed is refused", () => {
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

  it("is the first of two with the same value", () => {
    const search = started();
    search.validate(2, 1, 0.5);
    search.validate(1, 1, 0.5);
    expect(search.state.best).toEqual({ trial: 2, value: 0.5 });
  });

  it("has the largest value where larger is better", () => {
    const search = started(3, { smaller_is_better: false });
    search.validate(1, 1, 0.5);
    search.validate(2, 1, 0.7);
    search.validate(3, 1, 0.6);
    expect(search.state.best).toEqual({ trial: 2, value: 0.7 });
  });

  it("is another when its hyperparameters were invalid, the earlier of equals", () => {
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
  it("of a trial that has ended already changes nothing", () => {
    const search = started();
    search.end(1, COMPLETED);
    expect(search.end(1, FAILED)).toEqual([]);
  });

  it("of a trial that was never proposed is refused", () => {
    expect(
      rejected(started(), { type: "RecordOutcome", trial: 9, outcome: COMPLETED }),
    ).toMatchObject({
      rejected: "trial_unknown",
    });
  });

  it("without a name is refused", () => {
    const command = { type: "RecordOutcome", trial: 1, outcome: TrialOutcome.UNSPECIFIED } as const;
    expect(rejected(started(), command)).toMatchObject({ rejected: "outcome_unknown" });
  });

  it.each([
    ["as it should", [COMPLETED, FAILED], SearchCompletion.EXHAUSTED],
    ["early", [STOPPED_EARLY, CANCELED], SearchCompletion.EXHAUSTED],
    ["with no trial that could be trained", [FAILED, FAILED], SearchCompletion.FAILED],
    ["with failed and canceled trials only", [FAILED, CANCELED], SearchCompletion.FAILED],
    ["canceled trial by trial", [CANCELED, CANCELED], SearchCompletion.CANCELED],
  ])("ends the search %s", (_, outcomes, reason) => {
    const search = started(outcomes.length);
    for (const [index, outcome] of outcomes.entries()) search.end(index + 1, outcome);
    expect(search.completion()).toEqual({ reason });
    expect(search.state.phase).toBe("completed");
  });

  it("completes the search with its best trial", () => {
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

describe("a search that is to finish", () => {
  const finish = { type: "SearchStopDecided", data: { rule: "budget" } } as const;

  function finishing(trials: number): DrivenSearch {
    const search = new DrivenSearch();
    search.start(configOf(randomOf(trials, 2)));
    search.machine.apply(finish);
    return search;
  }

  it("proposes no more, and is complete when its trials have ended", () => {
    const search = finishing(9);
    expect(search.end(1, COMPLETED)).toHaveLength(1);
    expect(search.end(2, STOPPED_EARLY)).toMatchObject([
      {},
      { type: "SearchCompleted", data: { reason: SearchCompletion.EXHAUSTED } },
    ]);
  });

  it("proposes nothing in place of invalid hyperparameters either", () => {
    const search = finishing(9);
    expect(search.end(1, INVALID_HYPERPARAMETERS)).toHaveLength(1);
  });
});

describe("CancelSearch", () => {
  it("completes the search, with the best so far", () => {
    const search = started(3);
    search.validate(1, 1, 0.25);
    expect(search.send({ type: "CancelSearch" })).toEqual([
      {
        type: "SearchCompleted",
        data: { reason: SearchCompletion.CANCELED, bestTrial: 1, bestValue: 0.25 },
      },
    ]);
  });

  it("leaves nothing that could follow", () => {
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
