import { expect, test } from "vitest";
import { requestedOrder, ordered, trialSort } from "./ordered.ts";

const minimised = { trials: 4, smallerIsBetter: true };
const maximised = { trials: 4, smallerIsBetter: false };

test("trials are sorted by the metric, the best first, until the user chooses another order", () => {
  const trials = [
    { number: 1, bestValue: 0.3 },
    { number: 2 },
    { number: 3, bestValue: 0.1 },
    { number: 4, bestValue: Number.NaN },
  ];
  const numbers = (text: string | undefined, of: typeof minimised) =>
    ordered(trials, trialSort(text, of)).map(({ number }) => number);
  expect(numbers(undefined, minimised)).toEqual([3, 1, 2, 4]);
  expect(numbers(undefined, maximised)).toEqual([1, 3, 2, 4]);
  expect(numbers("number", minimised)).toEqual([1, 2, 3, 4]);
});

test("the server sorts the trials of an experiment that is not read whole", () => {
  expect(requestedOrder(trialSort(undefined, minimised), minimised)).toBe("");
  const large = { ...maximised, trials: 5_000 };
  expect(requestedOrder(trialSort(undefined, large), large)).toBe("best_value desc");
  expect(requestedOrder(trialSort("number desc", minimised), minimised)).toBe("number desc");
});
