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
  ])("ends %i rungs at time %i with divisor %i", (rungs, maxTime, divisor, units) => {
    expect(rungUnits(rungs, maxTime, divisor)).toEqual(units);
  });

  it.each([
    [20, 3, [3, 2, 1], [12, 5, 3]],
    [50, 3, [4, 3], [35, 15]],
    [100, 4, [4, 3, 2], [70, 22, 8]],
    [2, 4, [3, 2, 1], [1, 1, 1]],
  ])(
    "shares %i trials among brackets of equal budget (divisor %i)",
    (trials, divisor, rungs, shares) => {
      expect(bracketTrials(trials, divisor, rungs)).toEqual(shares);
    },
  );

  it.each([
    [16, [70, 22, 8], [6, 5, 5]],
    [2, [4, 3, 2], [1, 1, 1]],
    [0, [40, 10], [10, 10]],
    [0, [9, 3, 1], [4, 4, 4]],
  ])("shares a concurrency of %i among the brackets", (concurrency, trials, shares) => {
    expect(bracketConcurrency(concurrency, 4, trials)).toEqual(shares);
  });

  it.each([
    ["aggressive", [4]],
    ["standard", [4, 3, 2]],
    ["conservative", [4, 3, 2, 1]],
  ] as const)("has the brackets of the mode %s", (mode, rungs) => {
    const limits = { maxRungs: 5, maxTime: 64, maxTrials: 100, divisor: 4 };
    expect(adaptiveRungs(mode, limits)).toEqual(rungs);
  });

  it("uses the configured brackets, those with the most rungs first", () => {
    const settings = { maxTime: 64, maxTrials: 100, maxConcurrent: 16, divisor: 4 };
    expect(adaptiveBrackets({ ...settings, bracketRungs: [2, 4, 3] })).toEqual([
      { units: [1, 4, 16, 64], trials: 70, concurrent: 6 },
      { units: [4, 16, 64], trials: 22, concurrent: 5 },
      { units: [16, 64], trials: 8, concurrent: 5 },
    ]);
  });

  it("loses no rung to rounding of a logarithm", () => {
    const limits = { maxRungs: 9, maxTime: 1_000, maxTrials: 1_000, divisor: 10 };
    expect(adaptiveRungs("aggressive", limits)).toEqual([4]);
  });
});

describe("Trainyard's arithmetic", () => {
  it("raises rungs from the least time to the longest", () => {
    expect(risingUnits(1, 27, 3)).toEqual([1, 3, 9, 27]);
    expect(risingUnits(2, 27, 3)).toEqual([2, 6, 18, 27]);
    expect(risingUnits(5, 5, 3)).toEqual([5]);
    expect(risingUnits(1, 9, 2.5)).toEqual([1, 2, 6, 9]);
  });

  it("runs by default as many trials as one promotion to the top rung needs", () => {
    expect(halvingBracket([1, 3, 9], 100, 0, 3).concurrent).toBe(9);
    expect(halvingBracket([1, 3, 9], 4, 0, 3).concurrent).toBe(4);
    expect(halvingBracket([1, 3, 9], 100, 16, 3).concurrent).toBe(16);
  });

  it("has the Hyperband brackets of the paper", () => {
    expect(hyperbandTrials(81, 3)).toEqual([81, 34, 15, 8, 5]);
    expect(hyperbandBrackets(81, 3, 0).map(({ units }) => units[0])).toEqual([1, 3, 9, 27, 81]);
    expect(hyperbandBrackets(81, 3, 20).reduce((sum, { trials }) => sum + trials, 0)).toBe(20);
  });
});
