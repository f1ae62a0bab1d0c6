/**
 * Properties of every trial of every searcher: its point is in the space, satisfies the constraints, and has exactly
 * the hyperparameters that its conditions allow.
 */
import type { HyperparameterSpace, JsonObject, SearcherConfig } from "@trainyard/experiment-config";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ashaOf, autoOf, bohbOf, hyperbandOf } from "../../testing/halving.ts";
import { simulate } from "../../simulation/simulate.ts";
import { configOf, gpOf, gridOf, randomOf, sobolOf, tpeOf } from "../../testing/searches.ts";

const range = { type: "double", minval: 0, maxval: 1, count: 3 } as const;
const space: HyperparameterSpace = {
  a: { type: "int", minval: 1, maxval: 8, count: 8 },
  b: { type: "int", minval: 1, maxval: 8, count: 8 },
  // Conditional on a hyperparameter that sorts after it.
  momentum: { ...range, when: { "/optimizer": ["sgd"] } },
  optimizer: { type: "categorical", vals: ["sgd", "adam"] },
  net: {
    beta: { ...range, when: { "/optimizer": ["adam"], "/a": { minval: 3 } } },
    warm: { ...range, when: { "/net/beta": { maxval: 0.5 } } },
  },
};
const constraints = ["a * b <= 20", "momentum < 0.5 or a > 4", "net.warm <= net.beta"];

type Point = {
  a: number;
  b: number;
  optimizer: string;
  momentum?: number;
  net?: { beta?: number; warm?: number };
};

function expectRight(hyperparameters: JsonObject): void {
  const { a, b, optimizer, momentum, net } = hyperparameters as Point;
  expect([a, b].every((n) => Number.isInteger(n) && n >= 1 && n <= 8)).toBe(true);
  expect(a * b).toBeLessThanOrEqual(20);
  expect(momentum !== undefined).toBe(optimizer === "sgd");
  expect(net !== undefined).toBe(optimizer === "adam" && a >= 3);
  expect(net?.warm !== undefined).toBe((net?.beta ?? 1) <= 0.5);
  if (momentum !== undefined && a <= 4) expect(momentum).toBeLessThan(0.5);
  for (const x of [momentum, net?.beta, net?.warm]) {
    if (x !== undefined) expect(x >= 0 && x <= 1).toBe(true);
  }
  if (net?.warm !== undefined) expect(net.warm).toBeLessThanOrEqual(net.beta ?? 0);
}

const searchers: readonly (readonly [name: string, SearcherConfig])[] = [
  ["random", randomOf(30, 4)],
  ["sobol", sobolOf(30, 4)],
  ["asha", ashaOf()],
  ["hyperband", hyperbandOf()],
  ["bohb", bohbOf({ max_trials: 30 })],
  ["auto", autoOf({ max_trials: 30 })],
  ["tpe", tpeOf(30, 4)],
  ["tpe by axis", tpeOf(30, 4, false)],
  ["gp", gpOf(20, 4)],
  ["grid", gridOf(4)],
];

const worldOf = (hyperparameters: JsonObject) => {
  const { a, b, momentum = 0.3, net = {} } = hyperparameters as Point;
  return { value: (a - 4) ** 2 + (b - 3) ** 2 + momentum + (net.beta ?? 0), duration: a };
};

describe.each(searchers)("the searcher %s", (_name, searcher) => {
  it("proposes only allowed points, the same ones for the same seed", () => {
    const config = configOf({ ...searcher, constraints }, space);
    const runs = searcher.name === "gp" ? 3 : 12;
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const { ended } = simulate(config, seed, 3, worldOf);
        expect(ended.length).toBeGreaterThan(5);
        for (const { hyperparameters } of ended) expectRight(hyperparameters);
        const points = ended.map(({ hyperparameters }) => hyperparameters);
        const again = simulate(config, seed, 3, worldOf).ended;
        expect(again.map(({ hyperparameters }) => hyperparameters)).toEqual(points);
      }),
      { numRuns: runs },
    );
  });
});

describe("given points", () => {
  const given = [{ a: 2, optimizer: "adam" }, { momentum: 0.25 }];
  const started = searchers.filter(([name]) => name !== "grid");

  it.each(started)("come first in %s, with omitted values drawn", (_name, searcher) => {
    const config = configOf({ ...searcher, constraints, warm_start: { points: given } }, space);
    const { events } = simulate(config, 5, 2, worldOf);
    const proposals = events.flatMap((event) =>
      event.type === "TrialProposed" ? [event.data] : [],
    );
    expect(proposals[0]?.hyperparameters).toMatchObject({ a: 2, optimizer: "adam" });
    expect(proposals[1]?.hyperparameters).toMatchObject({ momentum: 0.25, optimizer: "sgd" });
    expect(proposals.slice(0, 3).map(({ origin }) => origin === "given")).toEqual([
      true,
      true,
      false,
    ]);
    for (const { hyperparameters = {} } of proposals) expectRight(hyperparameters);
  });
});

describe("the random points of trials", () => {
  const drawn = (more: Partial<SearcherConfig>, trials = 40) =>
    simulate(configOf({ ...randomOf(trials, 1), ...more } as SearcherConfig, space), 9, 1, () => ({
      value: 1,
      duration: 1,
    })).ended.map(({ hyperparameters }) => hyperparameters);

  it("are the same with a constraint if it allows them", () => {
    const free = drawn({});
    const kept = drawn({ constraints: ["a * b <= 20"] });
    const allowed = free.map((point) => Number(point["a"]) * Number(point["b"]) <= 20);
    expect(allowed.filter(Boolean).length).toBeGreaterThan(10);
    for (const [i, same] of allowed.entries()) {
      if (same) expect(kept[i]).toEqual(free[i]);
      else expect(kept[i]).not.toEqual(free[i]);
    }
  });

  it("satisfy a constraint that only a small part of the space satisfies", () => {
    const points = drawn(
      { constraints: ["a == 8 and b == 8 and optimizer == 'sgd' and momentum < 0.1"] },
      20,
    );
    for (const point of points) expect(point).toMatchObject({ a: 8, b: 8, optimizer: "sgd" });
    expect(new Set(points.map((point) => point["momentum"])).size).toBe(20);
  });
});

describe("a grid with constraints", () => {
  it("tries at most max_trials points, from its end", () => {
    const pointsOf = (more: object) =>
      simulate(configOf({ ...gridOf(1), constraints: ["b == a"], ...more }, space), 1, 1, () => ({
        value: 1,
        duration: 1,
      })).ended.map(({ hyperparameters }) => hyperparameters);
    expect(pointsOf({ max_trials: 5 })).toEqual(pointsOf({}).slice(0, 5));
  });

  it("excludes refused points, and has one point for all values of an absent hyperparameter", () => {
    const points = simulate(
      configOf({ ...gridOf(1), constraints: ["a <= 3", "b == a"] }, space),
      1,
      1,
      () => ({
        value: 1,
        duration: 1,
      }),
    ).ended.map(({ hyperparameters }) => hyperparameters as Point);
    const count = (test: (point: Point) => boolean): number => points.filter(test).length;
    // The optimizer sgd has 3 values of momentum for each a. The optimizer adam has one point per a < 3; with a = 3,
    // the betas 0 and 0.5 have 3 values of warm each, and beta 1 has one point.
    expect(count(({ optimizer }) => optimizer === "sgd")).toBe(9);
    expect(count(({ optimizer, a }) => optimizer === "adam" && a < 3)).toBe(2);
    expect(count(({ optimizer, a }) => optimizer === "adam" && a === 3)).toBe(7);
    expect(new Set(points.map((point) => JSON.stringify(point))).size).toBe(18);
  });
});
