import { draw } from "@trainyard/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unwarped, warped } from "./warp.ts";

const spread = Array.from({ length: 60 }, (_, i) => 10 ** (4 * draw(1, "decade", i)));
const largest = Math.max(...spread);
const standard = spread.map((x) => x / largest);

describe("warped values", () => {
  it("have mean 0, deviation 1 and no long tail, even if the original values span decades", () => {
    const { values, exponent } = warped(standard.map((x) => (x - 0.1) / 0.2));
    expect(exponent).toBeLessThan(0);
    const mean = values.reduce((sum, x) => sum + x / 60, 0);
    expect(mean).toBeCloseTo(0, 10);
    expect(values.reduce((sum, x) => sum + (x * x) / 60, 0)).toBeCloseTo(1, 10);
    expect(Math.max(...values)).toBeLessThan(3);
  });

  it("keep their order, and unwarp to the original values", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -4, max: 12, noNaN: true }), { minLength: 2, maxLength: 40 }),
        (values) => {
          fc.pre(new Set(values).size > 1);
          const warp = warped(values);
          const order = [...values.keys()].sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
          for (const [rank, i] of order.entries()) {
            const before = warp.values[order[rank - 1] ?? i] ?? 0;
            expect(warp.values[i]).toBeGreaterThanOrEqual(before);
            expect(unwarped(warp, warp.values[i] ?? 0)).toBeCloseTo(values[i] ?? 0, 4);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it("unwarp to finite values even beyond the observed range", () => {
    const warp = warped(standard.map((x) => (x - 0.1) / 0.2));
    for (const value of [-1e6, 1e6]) expect(Number.isFinite(unwarped(warp, value))).toBe(true);
  });
});
