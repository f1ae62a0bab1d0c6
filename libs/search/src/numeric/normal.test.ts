import { describe, expect, it } from "vitest";
import { fastExp, normalDensity, normalProbability, normalQuantile } from "./normal.ts";

/** Points and the probabilities below them, computed with Python's `math.erfc`. */
const probabilities = [
  [-6, 9.865876450377012e-10],
  [-3.21, 0.0006636748614399685],
  [-1, 0.15865525393145707],
  [-0.0078125, 0.4968832951391574],
  [0, 0.5],
  [0.3, 0.6179114221889526],
  [1.959963984540054, 0.975],
  [4.4, 0.9999945874560923],
] as const;

describe("the exponential", () => {
  it("agrees with the engine's to a few units in the last place", () => {
    for (let x = -690; x < 690; x += 0.7371) {
      expect(Math.abs(fastExp(x) / Math.exp(x) - 1)).toBeLessThan(1e-15);
    }
    expect([fastExp(0), fastExp(1)]).toEqual([1, Math.E]);
  });
});

describe("the normal distribution", () => {
  it.each(probabilities)("has at %f the probability %f below it", (x, probability) => {
    expect(Math.abs(normalProbability(x) - probability)).toBeLessThan(2e-14);
  });

  it("has the integral of the density as its probability", () => {
    const h = 1 / 512;
    let integral = 0;
    for (let x = -2; x < 1.5; x += h) {
      integral +=
        (h / 6) * (normalDensity(x) + 4 * normalDensity(x + h / 2) + normalDensity(x + h));
    }
    expect(normalProbability(1.5) - normalProbability(-2)).toBeCloseTo(integral, 12);
  });

  it("has quantiles that invert the probability", () => {
    for (let p = 0.0007; p < 1; p += 0.0043) {
      expect(Math.abs(normalProbability(normalQuantile(p)) - p)).toBeLessThan(1e-13);
    }
    expect(normalQuantile(0.975)).toBeCloseTo(1.959963984540054, 10);
    expect(normalQuantile(1e-300)).toBeGreaterThanOrEqual(-8);
  });

  it("is cut off at -8 and 8", () => {
    expect([normalProbability(-9), normalProbability(9)]).toEqual([0, 1]);
    expect(normalDensity(50)).toBe(0);
  });
});
