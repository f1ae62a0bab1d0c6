import { describe, expect, it } from "vitest";
import { descend } from "./lbfgs.ts";

const box = { low: -5, high: 10 };

/** Rosenbrock's valley, which has its minimum at (1, 1). */
function valley(at: Float64Array, gradient: Float64Array): number {
  const [a = 0, b = 0] = at;
  gradient[0] = -400 * a * (b - a * a) - 2 * (1 - a);
  gradient[1] = 200 * (b - a * a);
  return 100 * (b - a * a) ** 2 + (1 - a) ** 2;
}

describe("a descent", () => {
  it("finds the bottom of Rosenbrock's curved valley", () => {
    const at = Float64Array.of(-1.2, 1);
    expect(descend(valley, at, box, 200, 1e-14)).toBeLessThan(1e-8);
    expect(at[0]).toBeCloseTo(1, 3);
    expect(at[1]).toBeCloseTo(1, 3);
  });

  it("stays in its box and follows the sides", () => {
    const at = Float64Array.of(-3, 4);
    const slope = (x: Float64Array, gradient: Float64Array): number => {
      gradient[0] = 2 * ((x[0] ?? 0) + 9);
      gradient[1] = 2 * ((x[1] ?? 0) - 2);
      return ((x[0] ?? 0) + 9) ** 2 + ((x[1] ?? 0) - 2) ** 2;
    };
    descend(slope, at, box, 50, 1e-12);
    expect(at[0]).toBe(-5);
    expect(at[1]).toBeCloseTo(2, 6);
  });

  it("never enters a region where the value is not finite", () => {
    const at = Float64Array.of(3);
    const slope = (x: Float64Array, gradient: Float64Array): number => {
      gradient[0] = 1;
      return (x[0] ?? 0) < 2 ? Number.POSITIVE_INFINITY : (x[0] ?? 0);
    };
    expect(descend(slope, at, box, 50, 1e-9)).toBeCloseTo(2, 1);
    expect(at[0]).toBeGreaterThanOrEqual(2);
  });
});
