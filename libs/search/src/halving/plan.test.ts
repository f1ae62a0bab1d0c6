import { hyperbandTrials } from "@trainyard/experiment-config";
import { describe, expect, it } from "vitest";
import {
  adaptiveBrackets,
  adaptiveRungs,
  bracketConcurrency,
  bracketTrials,
  halvingBracket,
  hyperbandBrackets,
  risingUnits,
  rungUnits,
} from "./plan.ts";

describe("Determined's arithmetic", () => {
  it.each([
    [3, 9, 3, [1, 3, 9]],
    [3, 576_000, 3, [64_000, 192_000, 576_000]],
    [3, 12, 3, [1, 4, 12]],
    [4, 2, 4, [1, 1, 1, 2]],
  ])("%i rungs to %i by %i", (rungs, maxTime, divisor, units) => {
    expect(rungUnits(rungs, maxTime, divisor)).toEqual(units);
  });

  it.each([
    [20, 3, [3, 2, 1], [12, 5, 3]],
    [50, 3, [4, 3], [35, 15]],
    [100, 4, [4, 3, 2], [70, 22, 8]],
    [2, 4, [3, 2, 1], [1, 1, 1]],
  ])(
    "shares %i trials among brackets of the same budget (divisor %i)",
    (trials, divisor, rungs, shares) => {
      expect(bracketTrials(trials, divisor, rungs)).toEqual(shares);
    },
  );

  it.each([
    [16, [70, 22, 8], [6, 5, 5]],
    [2, [4, 3, 2], [1, 1, 1]],
    [0, [40, 10], [10, 10]],
    [0, [9, 3, 1], [4, 4, 4]],
  ])("shares a concurrency of %i", (concurrency, trials, shares) => {
    expect(bracketConcurrency(concurrency, 4, trials)).toEqual(shares);
  });

  it.each([
    ["aggressive", [4]],
    ["standard", [4, 3, 2]],
    ["conservative", [4, 3, 2, 1]],
  ] as const)("the brackets of the mode %s", (mode, rungs) => {
    const limits = { maxRungs: 5, maxTime: 64, maxTrials: 100, divisor: 4 };
    expect(adaptiveRungs(mode, limits)).toEqual(rungs);
  });

  it("takes the brackets that are given, those of the most rungs first", () => {
    const settings = { maxTime: 64, maxTrials: 100, maxConcurrent: 16, divisor: 4 };
    expect(adaptiveBrackets({ ...settings, bracketRungs: [2, 4, 3] })).toEqual([
      { units: [1, 4, 16, 64], trials: 70, concurrent: 6 },
      { units: [4, 16, 64], trials: 22, concurrent: 5 },
      { units: [16, 64], trials: 8, concurrent: 5 },
    ]);
  });

  it("loses no rung to a logarithm in floating point", () => {
    const limits = { maxRungs: 9, maxTime: 1_000, maxTrials: 1_000, divisor: 10 };
    expect(adaptiveRungs("aggressive", limits)).toEqual([4]);
  });
});

describe("our own", () => {
  it("rungs rise from the least time to the longest", () => {
    expect(risingUnits(1, 27, 3)).toEqual([1, 3, 9, 27]);
    expect(risingUnits(2, 27, 3)).toEqual([2, 6, 18, 27]);
    expect(risingUnits(5, 5, 3)).toEqual([5]);
    expect(risingUnits(1, 9, 2.5)).toEqual([1, 2, 6, 9]);
  });

  it("one bracket runs by default as many trials as it takes to bring one to the top", () => {
    expect(halvingBracket([1, 3, 9], 100, 0, 3).concurrent).toBe(9);
    expect(halvingBracket([1, 3, 9], 4, 0, 3).concurrent).toBe(4);
    expect(halvingBracket([1, 3, 9], 100, 16, 3).concurrent).toBe(16);
  });

  it("Hyperband's brackets are those of the paper's algorithm", () => {
    expect(hyperbandTrials(81, 3)).toEqual([81, 34, 15, 8, 5]);
    expect(hyperbandBrackets(81, 3, 0).map(({ units }) => units[0])).toEqual([1, 3, 9, 27, 81]);
    expect(hyperbandBrackets(81, 3, 20).reduce((sum, { trials }) => sum + trials, 0)).toBe(20);
  });
});
