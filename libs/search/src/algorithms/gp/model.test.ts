import { draw } from "@trainyard/kernel";
import { describe, expect, it } from "vitest";
import { bestPlace, logImprovement } from "./improvement.ts";
import { factorise, inverseLower, solveLower, solveUpper } from "./matrix.ts";
import { covariance, fitted, Process } from "./model.ts";

const shape = { categorical: [false, false] };
const inputs = Array.from({ length: 30 }, (_, i) => [draw(1, "a", i), draw(1, "b", i)]);
const waveAt = (input: readonly number[]): number => 1.4 * Math.sin(6 * (input[0] ?? 0));
const values = inputs.map(waveAt);

describe("a factor", () => {
  it("times its transpose is the matrix, and solves it", () => {
    const matrix = [4, 2, 0.6, 2, 5, 1, 0.6, 1, 3];
    const factor = Float64Array.from(matrix);
    factorise(factor, 3, 0, 3, 1e-12);
    const b = Float64Array.from([1, 2, 3]);
    solveLower(factor, 3, 3, b);
    solveUpper(factor, 3, 3, b);
    for (let i = 0; i < 3; i += 1) {
      const row = [0, 1, 2].reduce((sum, j) => sum + (matrix[i * 3 + j] ?? 0) * (b[j] ?? 0), 0);
      expect(row).toBeCloseTo(i + 1, 12);
    }
    const inverse = inverseLower(factor, 3, 3);
    const corner = [0, 1, 2].reduce(
      (sum, k) => sum + (factor[6 + k] ?? 0) * (inverse[k * 3] ?? 0),
      0,
    );
    expect(corner).toBeCloseTo(0, 12);
  });
});

describe("the covariance", () => {
  it("is Matérn's of smoothness 5/2", () => {
    // scale (1 + √5 r + 5 r² / 3) exp(-√5 r) at r = 0.5.
    const parameters = { weights: [1, 1], scale: 2, noise: 0 };
    expect(covariance(shape, parameters, [0, 0], [0.3, 0.4])).toBeCloseTo(1.6572981, 5);
    expect(covariance(shape, parameters, [0.2, 0.1], [0.2, 0.1])).toBe(2);
  });

  it("has choices that differ one apart", () => {
    const parameters = { weights: [1], scale: 1, noise: 0 };
    const choices = { categorical: [true] };
    expect(covariance(choices, parameters, [0.1], [0.2])).toBe(
      covariance({ categorical: [false] }, parameters, [0], [1]),
    );
  });
});

describe("a fitted process", () => {
  const parameters = fitted(shape, inputs, values);

  it("finds the axis that does nothing", () => {
    const [first = 0, second = 0] = parameters.weights;
    expect(first).toBeGreaterThan(20 * second);
    expect(parameters.noise).toBeLessThan(0.01);
  });

  it("goes through what it has seen, and knows little where it has seen nothing", () => {
    const process = new Process(shape, parameters, 30);
    process.see(inputs, values);
    for (const [i, input] of inputs.entries()) {
      expect(process.at(input).mean).toBeCloseTo(values[i] ?? 0, 1);
    }
    expect(process.at([0.43, 0.5]).mean).toBeCloseTo(waveAt([0.43]), 1);
    expect(process.at([4, 0.5]).deviation).toBeGreaterThan(process.at([0.43, 0.5]).deviation * 5);
  });

  it("sees one value after another as all at once", () => {
    const whole = new Process(shape, parameters, 30);
    whole.see(inputs, values);
    const grown = new Process(shape, parameters, 30);
    grown.see(inputs.slice(0, 20), values.slice(0, 20));
    grown.see(inputs.slice(20), values.slice(20));
    expect(grown.at([0.3, 0.3])).toEqual(whole.at([0.3, 0.3]));
  });
});

describe("expected improvement", () => {
  it("is that of the normal distribution", () => {
    // σ (z Φ(z) + φ(z)) of z = 0 is σ / √(2π).
    expect(logImprovement(1, 2, 1)).toBeCloseTo(Math.log(2 / Math.sqrt(2 * Math.PI)), 12);
    expect(Math.exp(logImprovement(0, 1e-3, 5))).toBeCloseTo(5, 9);
  });

  it("goes on falling where the improvement itself is below any double", () => {
    const logs = Array.from({ length: 60 }, (_, i) => logImprovement(4 + i * 0.25, 1, 0));
    for (let i = 1; i < logs.length; i += 1) expect(logs[i]).toBeLessThan(logs[i - 1] ?? 0);
    expect(logImprovement(100, 1, 0)).toBeCloseTo(-5010.13, 1);
  });

  it("is climbed from the candidates, round what is taken", () => {
    const parameters = fitted(shape, inputs, values);
    const process = new Process(shape, parameters, 30);
    process.see(inputs, values);
    const axes = [
      { cells: 0, categorical: false },
      { cells: 0, categorical: false },
    ];
    const best = Math.min(...values);
    const place = bestPlace(process, axes, best, inputs, () => false);
    expect(waveAt(place ?? [])).toBeLessThan(-1.39);
    expect(bestPlace(process, axes, best, inputs, () => true)).toBe(null);
  });
});
