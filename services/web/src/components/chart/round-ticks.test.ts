import fc from "fast-check";
import { expect, test } from "vitest";
import { linearTicks, logTicks } from "./round-ticks.ts";

test("a logarithmic axis has 1, 2 and 5 times the powers of ten", () => {
  expect(logTicks(0.00075, 0.0827)).toEqual([0.001, 0.002, 0.005, 0.01, 0.02, 0.05]);
  expect(logTicks(1, 100)).toEqual([1, 2, 5, 10, 20, 50, 100]);
});

test("a logarithmic axis of many decades has powers of ten, evenly thinned", () => {
  expect(logTicks(1e-6, 1)).toEqual([1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1]);
  expect(logTicks(1e-20, 1).map((tick) => Math.round(Math.log10(tick)))).toEqual([
    -20, -17, -14, -11, -8, -5, -2,
  ]);
});

test("a logarithmic axis too short for two of them has those of a linear one", () => {
  expect(logTicks(3.1, 3.9, 5)).toEqual([3.2, 3.4, 3.6, 3.8]);
});

test("ticks are within the axis, ascending, round, and not many", () => {
  const positive = fc.double({ min: 1e-9, max: 1e9, noNaN: true });
  fc.assert(
    fc.property(positive, positive, fc.boolean(), (one, other, log) => {
      fc.pre(Math.max(one, other) > 1.001 * Math.min(one, other));
      const [least, greatest] = [Math.min(one, other), Math.max(one, other)];
      const ticks = (log ? logTicks : linearTicks)(least, greatest);
      expect(ticks.length).toBeLessThanOrEqual(9);
      expect(ticks.every((tick, at) => at === 0 || tick > (ticks[at - 1] ?? 0))).toBe(true);
      for (const tick of ticks) {
        expect(tick).toBeGreaterThanOrEqual(least - 1e-9 * greatest);
        expect(tick).toBeLessThanOrEqual(greatest * (1 + 1e-9));
      }
    }),
  );
});
