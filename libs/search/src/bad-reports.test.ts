import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import type { SearcherConfig } from "@trainyard/experiment-config";
import { describe, expect, it } from "vitest";
import { noImprovement } from "./testing/early-stopping.ts";
import {
  configOf,
  DrivenSearch,
  gridOf,
  randomOf,
  singleOf,
  sobolOf,
  tpeOf,
  validation,
} from "./testing/searches.ts";

const { COMPLETED, FAILED } = TrialOutcome;

function started(trials = 3, searcher: Partial<SearcherConfig> = {}): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf({ ...randomOf(trials, 0), ...searcher } as SearcherConfig));
  return search;
}

/** A search whose algorithm decides by the metric's values. */
function startedByModel(trials = 3): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf(tpeOf(trials, 2)));
  return search;
}

describe("a report", () => {
  it.each([singleOf, randomOf(2, 2), gridOf(2), sobolOf(2, 2)])(
    "without the metric fails no trial if the searcher ignores values: $name",
    (searcher) => {
      const search = new DrivenSearch();
      search.start(configOf(searcher));
      const missing = { name: "loss", reported: ["accuracy"] };
      expect(search.send(validation(1, 10, { accuracy: 1 }))).toMatchObject([
        { type: "ObservationRecorded", data: { time: 10, values: {}, missing } },
      ]);
      expect(search.validate(1, 20, 0.5)).toMatchObject([{ data: { values: { loss: 0.5 } } }]);
      expect(search.state.best).toEqual({ trial: 1, value: 0.5 });
    },
  );

  it("without the metric fails the trial in random search if a policy compares values", () => {
    const search = new DrivenSearch();
    search.start({ ...configOf(randomOf(2, 2)), early_stopping: [noImprovement(3)] });
    expect(search.send(validation(1, 10, { accuracy: 1 }))).toMatchObject([
      { type: "ObservationRecorded" },
      { type: "TrialStopDecided", data: { rule: "metric_missing", fails: true } },
    ]);
  });

  it("fails the trial if the metric is text, and the reason says so", () => {
    const search = startedByModel();
    const report = validation(1, 10, { accuracy: 1 });
    const events = search.send({ ...report, nonNumeric: ["loss", "note"] });
    expect(events).toMatchObject([
      { data: { missing: { name: "loss", reported: ["accuracy"], nonNumeric: true } } },
      {
        type: "TrialStopDecided",
        data: { evidence: { metric: "loss", reported: ["accuracy"], non_numeric: true } },
      },
    ]);
  });

  it("without the metric fails the trial once, and the reason names the reported metrics", () => {
    const search = startedByModel();
    const missing = { name: "loss", reported: ["accuracy", "val_loss"] };
    expect(search.send(validation(1, 10, { val_loss: 2, accuracy: 1 }))).toMatchObject([
      { type: "ObservationRecorded", data: { time: 10, values: {}, missing } },
      {
        type: "TrialStopDecided",
        data: {
          trial: 1,
          rule: "metric_missing",
          evidence: { metric: "loss", reported: missing.reported },
          fails: true,
        },
      },
    ]);
    expect(search.send(validation(1, 20, { accuracy: 1 }))).toMatchObject([
      { data: { missing: {} } },
    ]);
    expect(search.state.best).toBe(null);
  });

  it("without the metric, at a time that was observed before, is an ordinary repeat", () => {
    const search = started();
    search.validate(1, 10, 0.5);
    expect(search.send(validation(1, 10, {}, { run: 2, measurement: "again" }))).toMatchObject([
      { data: { repeat: true } },
    ]);
  });

  it("without the metric fails even a trial that then completes", () => {
    const search = startedByModel(1);
    search.send(validation(1, 10, { accuracy: 1 }));
    expect(search.end(1, COMPLETED)).toMatchObject([
      { type: "TrialOutcomeRecorded", data: { outcome: FAILED } },
      { type: "SearchCompleted", data: { reason: SearchCompletion.FAILED } },
    ]);
  });

  it("fails the trial if its time decreases within a run, and the reason has both times", () => {
    const search = started(1, { time_metric: "epochs" } as Partial<SearcherConfig>);
    search.send(validation(1, 100, { loss: 1, epochs: 3 }));
    search.send(validation(1, 200, { loss: 1, epochs: 5 }));
    const evidence = { time_metric: "epochs", before: 5, time: 4, run: 1 };
    expect(search.send(validation(1, 300, { loss: 1, epochs: 4 }))).toMatchObject([
      { type: "ObservationRecorded" },
      { type: "TrialStopDecided", data: { rule: "time_metric_decreased", evidence, fails: true } },
    ]);
  });

  it("is accepted if its time is unchanged, or decreases in a later run", () => {
    const search = started(1, { time_metric: "epochs" } as Partial<SearcherConfig>);
    search.send(validation(1, 100, { loss: 1, epochs: 3 }));
    search.send(validation(1, 200, { loss: 1, epochs: 3 }));
    const later = { run: 2, currentRun: 2 };
    for (const [step, epochs] of [
      [150, 2],
      [250, 3],
      [300, 3.5],
    ] as const) {
      const [, ...decided] = search.send(validation(1, step, { loss: 1, epochs }, later));
      expect(decided).toEqual([]);
    }
    expect(search.send(validation(1, 310, { loss: 1, epochs: 3.1 }, later))).toMatchObject([
      {},
      { data: { rule: "time_metric_decreased" } },
    ]);
  });

  it("is accepted if its step decreases and the search has no time metric", () => {
    const search = started();
    search.validate(1, 20, 0.5);
    expect(search.validate(1, 10, 0.5)).toHaveLength(1);
  });

  it("has its time from the search's time metric", () => {
    const search = started(1, { time_metric: "epochs" } as Partial<SearcherConfig>);
    expect(search.send(validation(1, 500, { loss: 1, epochs: 2 }))).toMatchObject([
      { data: { time: 2, values: { loss: 1, epochs: 2 } } },
    ]);
  });

  it("without the time metric fails the trial once, and the reason names the other metrics", () => {
    for (const scalars of [{ loss: 1 }, { loss: 1, epochs: Number.NaN }]) {
      const search = started(1, { time_metric: "epochs" } as Partial<SearcherConfig>);
      expect(search.send(validation(1, 600, scalars))).toMatchObject([
        { data: { time: 0, values: {}, missing: { name: "epochs", reported: ["loss"] } } },
        {
          type: "TrialStopDecided",
          data: {
            trial: 1,
            rule: "time_metric_missing",
            evidence: { time_metric: "epochs", reported: ["loss"] },
            fails: true,
          },
        },
      ]);
      expect(search.send(validation(1, 700, scalars))).toHaveLength(1);
    }
  });

  it("without the metric batches, used as time, counts the step", () => {
    const search = started(1, { time_metric: "batches" } as Partial<SearcherConfig>);
    expect(search.send(validation(1, 500, { loss: 1 }))).toMatchObject([{ data: { time: 500 } }]);
  });
});
