import { draw } from "@trainyard/kernel";
import { describe, expect, it } from "vitest";
import { bestPlace, type Settle } from "./best-place.ts";
import { fitted } from "./fit.ts";
import { improvementSlopes, logImprovement } from "./improvement.ts";
import { distancesTo, matern, maternSlopes, placeAt, pointsOf } from "./kernel.ts";
import { Process } from "./model.ts";

const inputs = Array.from({ length: 30 }, (_, i) => [draw(1, "a", i), draw(1, "b", i)]);
const waveAt = (input: readonly number[]): number => 1.4 * Math.sin(6 * (input[0] ?? 0));
const points = pointsOf([false, false], inputs);
const values = Float64Array.from(inputs, waveAt);
const parameters = fitted(points, values);

function seen(): Process {
  const process = new Process(parameters, points, values);
  process.see(30);
  return process;
}

const at = (...place: number[]): Float64Array => Float64Array.from(place);

describe("the covariance", () => {
  it("equals Matérn's formula of smoothness 5/2, and so does its slope", () => {
    // The expected value is scale (1 + √5 r + 5 r² / 3) exp(-√5 r) at r = 0.5.
    const covariances = at(0.25, 0, 1e6);
    matern(covariances, 2);
    expect(covariances[0]).toBeCloseTo(1.6572981, 5);
    expect([...covariances.slice(1)]).toEqual([2, 0]);
    const around = at(0.25, 0.25 + 1e-6, 0.25 - 1e-6);
    const slopes = maternSlopes(around, 2);
    expect(around[0]).toBe(covariances[0]);
    expect(slopes[0]).toBeCloseTo(((around[1] ?? 0) - (around[2] ?? 0)) / 2e-6, 6);
  });

  it("has distance 1 between different choices of a categorical axis", () => {
    const rows = [
      [0.7, 0.2],
      [0.1, 0.7],
    ];
    const distances = distancesTo(at(0.1, 0.2), pointsOf([true, false], rows), 2, at(3, 1));
    expect(distances[0]).toBe(3);
    expect(distances[1]).toBeCloseTo(0.25, 12);
  });
});

describe("a fitted process", () => {
  it("recognises an axis without effect", () => {
    const [first = 0, second = 0] = parameters.weights;
    expect(first).toBeGreaterThan(20 * second);
    expect(parameters.noise).toBeLessThan(0.01);
  });

  it("matches the observed values, and is uncertain far from them", () => {
    const process = seen();
    for (const [i, input] of inputs.entries()) {
      expect(process.at(Float64Array.from(input)).mean).toBeCloseTo(values[i] ?? 0, 1);
    }
    expect(process.at(at(0.43, 0.5)).mean).toBeCloseTo(waveAt([0.43]), 1);
    const near = process.at(at(0.43, 0.5)).deviation;
    expect(process.at(at(4, 0.5)).deviation).toBeGreaterThan(near * 5);
  });

  it("is the same whether values are added one by one or all at once, also predicted values", () => {
    const grown = new Process(parameters, points, values);
    grown.see(20);
    grown.see(30);
    expect(grown.at(at(0.3, 0.3))).toEqual(seen().at(at(0.3, 0.3)));
    const more = new Process(parameters, pointsOf([false, false], [...inputs, [0.3, 0.3]]), values);
    more.see(30);
    const expected = more.at(at(0.3, 0.3));
    expect(more.believe()).toBe(expected.mean);
    expect(more.at(at(0.3, 0.3)).mean).toBeCloseTo(expected.mean, 6);
    expect(more.at(at(0.3, 0.3)).deviation).toBeLessThan(0.1);
  });

  it("returns the least mean at its observed points", () => {
    const process = seen();
    const means = inputs.map((input) => process.at(Float64Array.from(input)).mean);
    expect(process.leastMean()).toBeCloseTo(Math.min(...means), 9);
  });

  it("has the derivatives of its mean and deviation", () => {
    const process = seen();
    const [mean, deviation] = [new Float64Array(2), new Float64Array(2)];
    process.slopesAt(at(0.31, 0.64), mean, deviation);
    const ahead = process.at(at(0.31 + 1e-6, 0.64));
    const behind = process.at(at(0.31 - 1e-6, 0.64));
    expect(mean[0]).toBeCloseTo((ahead.mean - behind.mean) / 2e-6, 4);
    expect(deviation[0]).toBeCloseTo((ahead.deviation - behind.deviation) / 2e-6, 4);
  });

  it("surveys places with exact means and upper bounds of the deviations", () => {
    const process = seen();
    const places = pointsOf(
      [false, false],
      [
        [0.1, 0.9],
        [0.5, 0.2],
        [0.8, 0.8],
        [2, 2],
      ],
    );
    for (const [i, { mean, deviation }] of process.survey(places).entries()) {
      const exact = process.at(placeAt(places, i));
      expect(mean).toBe(exact.mean);
      expect(deviation).toBeGreaterThanOrEqual(exact.deviation - 1e-12);
    }
  });
});

describe("expected improvement", () => {
  const improvement = (mean: number, deviation: number, best: number): number =>
    logImprovement({ mean, deviation }, best);

  it("equals the formula for the normal distribution", () => {
    // At z = 0, σ (z Φ(z) + φ(z)) is σ / √(2π).
    expect(improvement(1, 2, 1)).toBeCloseTo(Math.log(2 / Math.sqrt(2 * Math.PI)), 12);
    expect(Math.exp(improvement(0, 1e-3, 5))).toBeCloseTo(5, 9);
  });

  it("keeps decreasing where the improvement itself underflows", () => {
    const logs = Array.from({ length: 60 }, (_, i) => improvement(4 + i * 0.25, 1, 0));
    for (let i = 1; i < logs.length; i += 1) expect(logs[i]).toBeLessThan(logs[i - 1] ?? 0);
    expect(improvement(100, 1, 0)).toBeCloseTo(-5010.13, 1);
  });

  it.each([0, 3, 5.2, 9])("has the right derivatives, also %d deviations away", (mean) => {
    const { byMean, byDeviation } = improvementSlopes({ mean, deviation: 1 }, 0);
    const step = 1e-5;
    const along = (improvement(mean + step, 1, 0) - improvement(mean - step, 1, 0)) / (2 * step);
    const across = (improvement(mean, 1 + step, 0) - improvement(mean, 1 - step, 0)) / (2 * step);
    expect(byMean / along).toBeCloseTo(1, 2);
    expect(byDeviation / across).toBeCloseTo(1, 1);
  });

  it("is maximised from the candidates, around refused places", () => {
    const axes = [0, 0].map((cells) => ({ cells, categorical: false }));
    const best = Math.min(...values);
    const searched = { process: seen(), axes, best, groups: [{ candidates: points, starts: 6 }] };
    const free = bestPlace({ ...searched, settle: (place) => place }) ?? [];
    expect(waveAt(free)).toBeLessThan(-1.39);
    expect(bestPlace({ ...searched, settle: () => null })).toBe(null);
    const low: Settle = (place) => ((place[1] ?? 0) < 0.3 ? place : null);
    expect(bestPlace({ ...searched, settle: low })?.[1]).toBeLessThan(0.3);
  });

  it("is maximised step by step along axes of cells", () => {
    const axes = [
      { cells: 50, categorical: false },
      { cells: 3, categorical: true },
    ];
    const rows = inputs.map(([a = 0, b = 0]) => [
      (Math.floor(a * 50) + 0.5) / 50,
      (Math.floor(b * 3) + 0.5) / 3,
    ]);
    const choices = pointsOf([false, true], rows);
    const worth = Float64Array.from(rows, (row) => waveAt(row) + ((row[1] ?? 0) > 0.6 ? 0 : 1));
    const process = new Process(fitted(choices, worth), choices, worth);
    process.see(30);
    const searched = {
      process,
      axes,
      best: Math.min(...worth),
      groups: [{ candidates: choices, starts: 6 }],
    };
    const [a = 0, b = 0] = bestPlace({ ...searched, settle: (place) => place }) ?? [];
    expect((a * 50 - 0.5) % 1).toBeCloseTo(0, 9);
    expect(b).toBeCloseTo(2.5 / 3, 9);
    expect(waveAt([a])).toBeLessThan(-1.3);
  });
});
