import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exp, integerPower, log, power, roundHalfAway } from "./math.ts";

/** Whether two numbers differ by at most a few units in the last place. */
const near = (got: number, wanted: number): boolean =>
  Math.abs(got - wanted) <= 4 * Number.EPSILON * Math.abs(wanted);

describe("math", () => {
  it("exp and log agree with the engine's functions", () => {
    fc.assert(
      fc.property(fc.double({ min: -700, max: 700, noNaN: true }), (x) =>
        near(exp(x), Math.exp(x)),
      ),
    );
    fc.assert(
      fc.property(fc.double({ min: 1e-300, max: 1e300, noNaN: true }), (x) => {
        const got = log(x);
        return near(got, Math.log(x)) || Math.abs(got - Math.log(x)) < Number.EPSILON;
      }),
    );
  });

  it("power agrees with the engine's function", () => {
    const base = fc.double({ min: 0.01, max: 100, noNaN: true });
    const exponent = fc.double({ min: -100, max: 100, noNaN: true });
    fc.assert(fc.property(base, exponent, (b, x) => Math.abs(power(b, x) / b ** x - 1) < 1e-13));
  });

  it("power returns exact powers of ten", () => {
    expect([-5, -4, -3, -1, 0, 1, 22].map((n) => power(10, n))).toEqual([
      1e-5, 1e-4, 1e-3, 0.1, 1, 10, 1e22,
    ]);
    expect(power(1, 0.3)).toBe(1);
    expect(integerPower(2, -1_000)).toBe(2 ** -1_000);
  });

  it("results have the same bits on every machine", () => {
    expect([power(10, -2.5), power(2, 0.5), power(3.14, 1.7), exp(1), log(10)]).toEqual([
      0.003162277660168379, 1.414213562373095, 6.994882147461889, 2.7182818284590455,
      2.302585092994046,
    ]);
  });

  it("roundHalfAway rounds halves away from zero", () => {
    expect([-2.5, -0.5, 0.5, 2.5, 2.4, -2.6].map(roundHalfAway)).toEqual([-3, -1, 1, 3, 2, -3]);
  });
});
