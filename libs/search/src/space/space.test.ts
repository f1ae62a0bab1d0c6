import type { HyperparameterSpace, JsonObject } from "@trainyard/experiment-config";
import { gridSize } from "@trainyard/experiment-config";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gridPoint, isConstant, sampledPoint, trialSeed } from "./space.ts";

const int = (minval: number, maxval: number, count: number | null = null) =>
  ({ type: "int", minval, maxval, count }) as const;
const double = (minval: number, maxval: number, count: number | null = null) =>
  ({ type: "double", minval, maxval, count }) as const;
const log = (minval: number, maxval: number, count: number | null = null, base = 10) =>
  ({ type: "log", minval, maxval, base, count }) as const;
const oneOf = (...vals: (string | number)[]) => ({ type: "categorical", vals }) as const;
const constant = (val: string | number) => ({ type: "const", val }) as const;

const points = (space: HyperparameterSpace): JsonObject[] =>
  Array.from({ length: gridSize(space) }, (_, i) => gridPoint(space, i));

const axis = (space: HyperparameterSpace): unknown[] => points(space).map((point) => point["x"]);

describe("a grid", () => {
  it("varies the last key fastest", () => {
    expect(points({ "1": int(0, 20, 3), "2": int(0, 10, 3) })).toEqual([
      { "1": 0, "2": 0 },
      { "1": 0, "2": 5 },
      { "1": 0, "2": 10 },
      { "1": 10, "2": 0 },
      { "1": 10, "2": 5 },
      { "1": 10, "2": 10 },
      { "1": 20, "2": 0 },
      { "1": 20, "2": 5 },
      { "1": 20, "2": 10 },
    ]);
  });

  it("sorts keys as text, even keys that JavaScript sorts as numbers", () => {
    const space = { "10": int(0, 1, 2), "9": int(0, 1, 2) };
    expect(points(space).map((point) => [point["10"], point["9"]])).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ]);
  });

  it("expands nested hyperparameters in their place, and keeps empty nests", () => {
    const space = { a: { c: oneOf("p", "q"), d: {} }, b: int(1, 2, 2), e: constant(0) };
    expect(points(space)).toEqual([
      { a: { c: "p", d: {} }, b: 1, e: 0 },
      { a: { c: "p", d: {} }, b: 2, e: 0 },
      { a: { c: "q", d: {} }, b: 1, e: 0 },
      { a: { c: "q", d: {} }, b: 2, e: 0 },
    ]);
  });

  it.each([
    ["ints with both ends", { x: int(0, 20, 3) }, [0, 10, 20]],
    ["ints below zero", { x: int(-4, -2, 3) }, [-4, -3, -2]],
    ["ints rounded, halves away from zero", { x: int(-4, -1, 3) }, [-4, -3, -1]],
    ["no more ints than there are", { x: int(1, 3, 100) }, [1, 2, 3]],
    ["one int: the middle", { x: int(0, 10, 1) }, [5]],
    ["one int between two: away from zero", { x: int(-2, -1, 1) }, [-2]],
    ["doubles", { x: double(0, 2, 5) }, [0, 0.5, 1, 1.5, 2]],
    ["one double: the middle", { x: double(-1, 2, 1) }, [0.5]],
    ["powers, evenly in the exponent", { x: log(-3, -1, 3) }, [1e-3, 1e-2, 1e-1]],
    ["one power: the middle exponent", { x: log(1, 3, 1) }, [100]],
    ["categories in their order", { x: oneOf("b", "a") }, ["b", "a"]],
    ["a constant", { x: constant(7) }, [7]],
  ])("has %s", (_, space, values) => {
    expect(axis(space)).toEqual(values);
  });

  it("has one point for a space without hyperparameters", () => {
    expect(points({})).toEqual([{}]);
  });
});

describe("a sampled point", () => {
  const space: HyperparameterSpace = {
    a: int(-3, 3),
    b: { lr: log(-4, -1), keep: double(0.25, 0.75), empty: {} },
    c: oneOf("x", "y", "z"),
    d: constant("fixed"),
  };

  it("depends on the seed, the trial and the hyperparameter's path", () => {
    expect(sampledPoint(space, 42, 1)).toEqual(sampledPoint(space, 42, 1));
    expect(sampledPoint(space, 42, 1)).not.toEqual(sampledPoint(space, 43, 1));
    expect(sampledPoint(space, 42, 1)).not.toEqual(sampledPoint(space, 42, 2));
    const { a } = sampledPoint({ ...space, aa: int(0, 9), e: double(0, 1) }, 42, 5);
    expect(a).toBe(sampledPoint(space, 42, 5)["a"]);
  });

  it("has these recorded values on every machine", () => {
    expect(sampledPoint(space, 42, 1)).toMatchInlineSnapshot(`
      {
        "a": -2,
        "b": {
          "empty": {},
          "keep": 0.7485494149534759,
          "lr": 0.002963231700444753,
        },
        "c": "z",
        "d": "fixed",
      }
    `);
    expect([trialSeed(42, 1), trialSeed(42, 2), trialSeed(0, 1)]).toMatchInlineSnapshot(`
      [
        2096993755,
        1630207116,
        1084318565,
      ]
    `);
  });

  it("is in the space for every seed and trial", () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 0xffff_ffff }),
        fc.integer({ min: 1, max: 1_000_000 }),
        (seed, trial) => {
          const point = sampledPoint(space, seed, trial) as {
            a: number;
            b: { lr: number; keep: number; empty: object };
            c: string;
            d: string;
          };
          expect(Number.isInteger(point.a) && point.a >= -3 && point.a <= 3).toBe(true);
          expect(point.b.lr).toBeGreaterThanOrEqual(1e-4);
          expect(point.b.lr).toBeLessThanOrEqual(0.1);
          expect(point.b.keep).toBeGreaterThanOrEqual(0.25);
          expect(point.b.keep).toBeLessThanOrEqual(0.75);
          expect(["x", "y", "z"]).toContain(point.c);
          expect([point.d, point.b.empty]).toEqual(["fixed", {}]);
          const seedOfTrial = trialSeed(seed, trial);
          expect(Number.isInteger(seedOfTrial) && seedOfTrial >= 0 && seedOfTrial < 2 ** 31).toBe(
            true,
          );
        },
      ),
    );
  });

  it("has every int equally often, and every exponent", () => {
    const trials = 20_000;
    const ints = new Map<number, number>();
    let below = 0;
    for (let trial = 1; trial <= trials; trial += 1) {
      const point = sampledPoint({ n: int(0, 9), x: log(-4, 0) }, 7, trial);
      ints.set(point["n"] as number, (ints.get(point["n"] as number) ?? 0) + 1);
      if ((point["x"] as number) < 1e-2) below += 1;
    }
    // The tolerances are four standard deviations of the binomial counts.
    for (const [, times] of ints) expect(Math.abs(times - trials / 10)).toBeLessThan(170);
    expect(ints.size).toBe(10);
    expect(Math.abs(below - trials / 2)).toBeLessThan(283);
  });

  it('has independent values for the paths "a/b" and a, b', () => {
    const point = sampledPoint({ "a/b": double(0, 1), a: { b: double(0, 1) } }, 1, 1);
    expect(point["a/b"]).not.toBe((point["a"] as JsonObject)["b"]);
  });
});

describe("isConstant", () => {
  it("is true for a space in which all trials are alike", () => {
    expect(isConstant({ a: constant(1), b: { c: oneOf("x") } })).toBe(true);
    expect(isConstant({ a: constant(1), b: { c: oneOf("x", "y") } })).toBe(false);
    expect(isConstant({ a: double(0, 1) })).toBe(false);
  });
});
