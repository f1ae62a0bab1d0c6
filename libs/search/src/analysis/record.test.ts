import { TrialOutcome } from "@trainyard/contracts/events";
import { describe, expect, it } from "vitest";
import { configOf, DrivenSearch, randomOf } from "../testing/searches.ts";
import { bestTrialOf } from "../population/lineage.ts";
import { bestSoFar, paretoTrials, SearchRecord } from "./record.ts";

function recordOf(search: DrivenSearch): SearchRecord {
  const record = new SearchRecord();
  for (const [index, event] of search.events.entries()) record.add(event, 1_000 + index);
  return record;
}

function started(smallerIsBetter = true): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf({ ...randomOf(4, 4), smaller_is_better: smallerIsBetter }));
  return search;
}

describe("the best so far", () => {
  it("lists each value better than all earlier ones, with the observations and training so far", () => {
    const search = started();
    search.validate(1, 10, 0.9);
    search.validate(2, 4, 0.5);
    search.validate(1, 20, 0.7);
    search.validate(3, 1, Number.NaN);
    search.validate(1, 30, 0.5);
    search.validate(2, 8, 0.25);
    expect(bestSoFar(recordOf(search))).toEqual([
      { trial: 1, value: 0.9, time: 10, atMs: 1_005, observations: 1, units: 10 },
      { trial: 2, value: 0.5, time: 4, atMs: 1_006, observations: 2, units: 14 },
      { trial: 2, value: 0.25, time: 8, atMs: 1_010, observations: 6, units: 39 },
    ]);
    search.validate(2, 12, 0.5);
    expect(recordOf(search).observations).toBe(7);
  });

  it("increases if larger is better", () => {
    const search = started(false);
    for (const [trial, value] of [0.1, 0.3, 0.2, 0.4].entries())
      search.validate(trial + 1, 1, value);
    expect(bestSoFar(recordOf(search)).map(({ value }) => value)).toEqual([0.1, 0.3, 0.4]);
  });

  it("excludes the values of failed trials, also from the Pareto front", () => {
    const search = started();
    search.validate(1, 1, 0.1);
    search.validate(2, 1, 0.5);
    search.end(1, TrialOutcome.FAILED);
    const record = recordOf(search);
    expect(bestSoFar(record).map(({ trial }) => trial)).toEqual([2]);
    const { rated, front } = paretoTrials(record);
    expect(rated.map(({ trial }) => trial)).toEqual([2]);
    expect(front.map(({ trial }) => trial)).toEqual([2]);
    expect(bestTrialOf(search.events)).toBe(2);
    search.end(2, TrialOutcome.FAILED);
    expect(bestSoFar(recordOf(search))).toEqual([]);
    expect(bestTrialOf(search.events)).toBeNull();
  });

  it("ignores repeated reports and trials with invalid hyperparameters", () => {
    const search = started();
    search.validate(1, 1, 0.1);
    search.validate(2, 1, 0.5);
    search.validate(2, 1, 0.5);
    search.end(1, TrialOutcome.INVALID_HYPERPARAMETERS);
    const record = recordOf(search);
    expect(bestSoFar(record).map(({ trial, observations }) => [trial, observations])).toEqual([
      [2, 2],
    ]);
    expect(record.version).toBe(search.state.version);
  });
});
