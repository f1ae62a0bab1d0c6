import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import { describe, expect, it } from "vitest";
import { searchLimits } from "../limits.ts";
import { sampledPoint, trialSeed } from "../space/space.ts";
import { configOf, DrivenSearch, randomOf, spaceOfTwo } from "../testing/searches.ts";

const { COMPLETED, FAILED, CANCELED, INVALID_HYPERPARAMETERS: INVALID } = TrialOutcome;

function searchOf(trials: number, concurrent: number, space = spaceOfTwo): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf(randomOf(trials, concurrent), space), 7);
  return search;
}

const numbers = (search: DrivenSearch): number[] => search.proposals().map(({ number }) => number);

describe("random search", () => {
  it("proposes as many trials as may be open at a time", () => {
    expect(numbers(searchOf(10, 3))).toEqual([1, 2, 3]);
    expect(numbers(searchOf(2, 16))).toEqual([1, 2]);
    expect(numbers(searchOf(20, 0))).toHaveLength(20);
  });

  it("derives the point and the seed of trial n from the number n", () => {
    const search = searchOf(2, 0);
    expect(search.proposals()).toEqual(
      [1, 2].map((number) => ({
        number,
        hyperparameters: sampledPoint(spaceOfTwo, 7, number),
        seed: trialSeed(7, number),
        searchVersion: 1,
        origin: "drawn",
      })),
    );
  });

  it.each([COMPLETED, FAILED, CANCELED])("proposes a trial at each end (outcome %i)", (outcome) => {
    const search = searchOf(4, 2);
    expect(search.end(2, outcome)).toMatchObject([
      { type: "TrialOutcomeRecorded", data: { trial: 2, outcome } },
      { type: "TrialProposed", data: { number: 3, searchVersion: 4 } },
    ]);
  });

  it("completes when all trials have ended", () => {
    const search = searchOf(3, 2);
    for (const trial of [2, 1, 3]) search.end(trial, COMPLETED);
    expect(numbers(search)).toEqual([1, 2, 3]);
    expect(search.completion()).toEqual({ reason: SearchCompletion.EXHAUSTED });
  });

  it("replaces a trial with invalid hyperparameters and does not count it", () => {
    const search = searchOf(2, 1);
    search.end(1, INVALID);
    search.end(2, COMPLETED);
    search.end(3, INVALID);
    search.end(4, COMPLETED);
    expect(numbers(search)).toEqual([1, 2, 3, 4]);
    expect(search.completion()).toEqual({ reason: SearchCompletion.EXHAUSTED });
  });

  it("stops replacing trials after too many invalid ones", () => {
    const search = searchOf(2, 1);
    for (let trial = 1; search.completion() === undefined; trial += 1) search.end(trial, INVALID);
    expect(numbers(search)).toHaveLength(2 + searchLimits.replacementsMin);
    expect(search.completion()).toEqual({ reason: SearchCompletion.FAILED });
  });

  it("does not replace a trial by one with the same hyperparameters", () => {
    const search = searchOf(2, 1, { lr: { type: "const", val: 1 } });
    search.end(1, INVALID);
    search.end(2, COMPLETED);
    expect(numbers(search)).toEqual([1, 2]);
    expect(search.completion()).toEqual({ reason: SearchCompletion.EXHAUSTED });
  });

  it("proposes at most a thousand trials in one decision", () => {
    const search = searchOf(2_500, 0);
    expect(numbers(search)).toHaveLength(searchLimits.proposalsPerDecisionMax);
    search.end(1, COMPLETED);
    search.end(2, COMPLETED);
    expect(numbers(search)).toHaveLength(2_500);
  });

  it("proposes fewer trials in one decision if each trial is large", () => {
    const search = searchOf(100, 0, { big: { type: "const", val: "x".repeat(90_000) } });
    expect(numbers(search)).toHaveLength(46);
  });
});

describe("a single trial", () => {
  it("proposes one trial, drawn as in random search", () => {
    const search = new DrivenSearch();
    search.start(configOf({ name: "single", metric: "loss", smaller_is_better: true }), 7);
    expect(search.proposals()).toMatchObject([
      { number: 1, hyperparameters: sampledPoint(spaceOfTwo, 7, 1) },
    ]);
    search.end(1, COMPLETED);
    expect(search.completion()).toEqual({ reason: SearchCompletion.EXHAUSTED });
  });
});
