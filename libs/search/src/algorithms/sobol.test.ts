import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import type { HyperparameterSpace } from "@trainyard/experiment-config";
import { describe, expect, it } from "vitest";
import { configOf, DrivenSearch, sobolOf, spaceOfTwo } from "../testing/searches.ts";

function searchOf(trials: number, space: HyperparameterSpace = spaceOfTwo, seed = 7): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf(sobolOf(trials, 0), space), seed);
  return search;
}

const points = (search: DrivenSearch): unknown[] =>
  search.proposals().map(({ hyperparameters }) => hyperparameters);

describe("quasi-random search", () => {
  it("proposes the recorded points", () => {
    expect(points(searchOf(3))).toMatchInlineSnapshot(`
      [
        {
          "lr": 0.0002614671268139266,
          "units": 11,
        },
        {
          "lr": 0.01783899216457652,
          "units": 49,
        },
        {
          "lr": 0.010976089797115432,
          "units": 33,
        },
      ]
    `);
  });

  it("tries every value of an int and every choice equally often", () => {
    const space: HyperparameterSpace = {
      a: { type: "int", minval: 1, maxval: 4, count: null },
      b: { c: { type: "categorical", vals: ["x", { y: 1 }] }, d: { type: "const", val: 3 } },
    };
    const counts = new Map<string, number>();
    for (const point of points(searchOf(32, space))) {
      const text = JSON.stringify(point);
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    expect([...counts.values()]).toEqual(Array.from({ length: 8 }, () => 4));
  });

  it("proposes different points for different seeds", () => {
    expect(points(searchOf(3, spaceOfTwo, 8))).not.toEqual(points(searchOf(3)));
  });

  it("draws the hyperparameters beyond the dimensions of its table at random", () => {
    const space = Object.fromEntries(
      Array.from({ length: 140 }, (_, n) => [
        `h${n}`,
        { type: "double", minval: 0, maxval: 1, count: null } as const,
      ]),
    );
    const [first, second] = points(searchOf(2, space)) as Record<string, number>[];
    expect(Object.keys(first ?? {})).toHaveLength(140);
    for (const key of Object.keys(space)) expect(first?.[key]).not.toBe(second?.[key]);
  });

  it("replaces a trial with invalid hyperparameters, and completes when all trials have ended", () => {
    const search = searchOf(2);
    search.end(1, TrialOutcome.INVALID_HYPERPARAMETERS);
    search.end(2, TrialOutcome.COMPLETED);
    search.end(3, TrialOutcome.COMPLETED);
    expect(search.completion()).toEqual({ reason: SearchCompletion.EXHAUSTED });
  });
});
