import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import { describe, expect, it } from "vitest";
import { configOf, DrivenSearch, gridOf } from "../testing/searches.ts";

const space = { a: { type: "int", minval: 0, maxval: 3, count: 4 } } as const;

function searchOf(concurrent: number): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf(gridOf(concurrent), space));
  return search;
}

const values = (search: DrivenSearch): unknown[] =>
  search.proposals().map(({ hyperparameters }) => hyperparameters?.["a"]);

describe("grid search", () => {
  it("proposes points from the end of the grid, as many as may run at a time", () => {
    expect(values(searchOf(2))).toEqual([3, 2]);
    expect(values(searchOf(0))).toEqual([3, 2, 1, 0]);
  });

  it("proposes each point once and completes when all trials have ended", () => {
    const search = searchOf(2);
    for (const trial of [2, 1, 3, 4]) search.end(trial, TrialOutcome.COMPLETED);
    expect(values(search)).toEqual([3, 2, 1, 0]);
    expect(search.completion()).toEqual({ reason: SearchCompletion.EXHAUSTED });
  });

  it("does not replace a trial with invalid hyperparameters", () => {
    const search = searchOf(1);
    search.end(1, TrialOutcome.INVALID_HYPERPARAMETERS);
    for (const trial of [2, 3, 4]) search.end(trial, TrialOutcome.COMPLETED);
    expect(values(search)).toEqual([3, 2, 1, 0]);
    expect(search.completion()).toEqual({ reason: SearchCompletion.EXHAUSTED });
  });

  it("proposes one trial for a space without hyperparameters", () => {
    const search = new DrivenSearch();
    search.start(configOf(gridOf(2), {}));
    expect(search.proposals()).toMatchObject([{ number: 1, hyperparameters: {} }]);
  });
});
