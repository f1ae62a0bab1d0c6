import { type Json, parseExpression } from "@trainyard/experiment-config";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluation } from "./evaluate.ts";

const point: { [key: string]: Json } = {
  a: 6,
  b: -4,
  x: 0.1,
  flag: true,
  name: "sgd",
  nest: { lr: 0.01, "k.v": 2 },
  list: [1, 2],
  shape: { w: 1, h: 2 },
  nothing: null,
};
const at = (text: string): Json | undefined => evaluation(parseExpression(text))(point);

describe("the value of an expression", () => {
  it.each<[string, Json | undefined]>([
    ["a + b * 2 - 1", -3],
    ["a / b", -1.5],
    ["b // a", -1],
    ["b % a", 2],
    ["a % b", -2],
    ["a ** 2 ** -1", 6 ** 0.5],
    ["2 ** 10", 1024],
    ["x * 3 == 0.30000000000000004", true],
    ["-a < b < x", true],
    ["a < b < x", false],
    ["nest.lr <= 0.01 and nest.`k.v` == 2", true],
    ["name in ['sgd', 'adam']", true],
    ["name not in ['sgd']", false],
    ["1 in list", true],
    ["nothing == null", true],
    ["shape == shape", true],
    ["flag and not a < 6", true],
    ["abs(b) + min(a, 2, 3) + max(a, b) + floor(2.5) + ceil(2.5) + round(2.5)", 20],
    ["sqrt(a - 2)", 2],
    ["log(exp(1)) > 0.999999 and log(0) < -1e300 and exp(1000) > 1e300", true],
    ["a / 0 > 1e300", true],
    ["0 * (a / 0) < 1", false],
    ["(0 - a) ** 0.5 < 1", false],
    ["0 ** -0.5 > 1e300", true],
    ["1e999 ** 2 < 1 or log(1e999) > 1 and exp(-1e999) == 0", true],
  ])("is computed for %s", (text, value) => {
    expect(at(text)).toEqual(value);
  });

  it.each<[string, Json | undefined]>([
    ["gone < 1", undefined],
    ["not gone < 1", undefined],
    ["gone + 1 == 2", undefined],
    ["gone == gone", undefined],
    ["gone in [1]", undefined],
    ["1 in [gone]", undefined],
    ["name * 2 < 1", undefined],
    ["name < 1", undefined],
    ["a in name", undefined],
    ["nest.gone < 1", undefined],
    ["name.sgd == 1", undefined],
    ["gone < 1 or a == 6", true],
    ["gone < 1 or a == 5", undefined],
    ["gone < 1 and a == 5", false],
    ["gone < 1 and a == 6", undefined],
    ["a < gone < 5", undefined],
    ["a < 3 < gone", false],
    ["toString == 1", undefined],
  ])("follows three-valued logic if a hyperparameter is missing: %s", (text, value) => {
    expect(at(text)).toBe(value);
  });

  it("remains false whatever values are added to a point at which it is false", () => {
    const texts = ["a < 3 or b > c", "not (a == 1 and c < 5)", "a <= b <= c", "c in [a, b]"];
    const some = fc.record({ a: fc.nat(6), b: fc.nat(6), c: fc.nat(6) }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.constantFrom(...texts), some, fc.nat(6), (text, partly, rest) => {
        const evaluate = evaluation(parseExpression(text));
        const value = evaluate(partly);
        const whole = evaluate({ a: rest, b: rest, c: rest, ...partly });
        if (value !== undefined) expect(whole).toBe(value);
      }),
    );
  });
});
