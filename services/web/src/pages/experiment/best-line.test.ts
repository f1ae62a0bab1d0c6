import { expect, test } from "vitest";
import { bestLine } from "./best-line.ts";

const best = (trial: string, value: number, observations: number) => ({
  ...{ trial, value, observations },
  ...{ atMs: 0, time: 0, units: 0 },
});

test("the best value so far has a step at each improvement, and is drawn up to the last validation", () => {
  const line = bestLine([best("5.1", 0.9, 1), best("5.2", 0.4, 3)], 24);
  expect(line?.x).toEqual([1, 3, 3, 24]);
  expect(line?.y).toEqual([0.9, 0.9, 0.4, 0.4]);
  expect(line?.of).toBe("5.2");
});

test("the best value so far ends at an improvement by the last validation", () => {
  expect(bestLine([best("5.1", 0.9, 1), best("5.2", 0.4, 3)], 3)?.x).toEqual([1, 3, 3]);
});

test("the best value so far has no line before the first value", () => {
  expect(bestLine([], 4)).toBeNull();
});
