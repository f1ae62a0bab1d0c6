import { expect, test } from "vitest";
import { continuousFamilies, regretsOn, surrogateOf } from "./continuous.ts";

const surrogate = (name: string) => {
  const family = continuousFamilies.find((one) => one.name === name);
  if (family === undefined) throw new Error(`${name} is a family`);
  return surrogateOf(family, 1);
};

test("a surrogate repeats the curve of the same point and trial, and has other noise for another trial", () => {
  const at = [0.3, 0.5, 0.7, 0.1, 0.9, 0.2, 0.4];
  const { train } = surrogate("noisy");
  expect(train(at, 1).reported(5)).toBe(train(at, 1).reported(5));
  expect(train(at, 2).reported(5)).not.toBe(train(at, 1).reported(5));
  expect(train(at, 1).true(5)).not.toBe(train(at, 1).reported(5));
});

test.each(["misleading", "plateau"])(
  "bohb leaves at most 1.05 times the regret of random search on %s curves",
  (name) => {
    const regret = (searcher: "bohb" | "random") =>
      regretsOn(surrogate(name), searcher, 3, [25])[0] ?? Number.NaN;
    expect(regret("bohb") / regret("random")).toBeLessThan(1.05);
  },
);
