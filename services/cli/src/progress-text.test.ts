import { expect, test } from "vitest";
import { leftText, percentText, progressText, timesText } from "./progress-text.ts";

const minute = 60_000;
const running = { progress: 0.375, createdAtMs: 0, ranMs: 2 * minute, runningSinceMs: 9 * minute };

test("the time left is shown in one unit, and not without an estimate or when it is over", () => {
  const shown = { ...running, estimatedEndAtMs: 14 * minute + 5_000 };
  expect(progressText(shown, 10 * minute)).toBe("37%, about 4m left");
  expect(leftText(shown, 15 * minute)).toBe("");
  expect(progressText(running, 10 * minute)).toBe("37%");
});

test("the elapsed time and the time in which a run trained", () => {
  expect(timesText(running, 10 * minute)).toBe("10m, ran 3m");
  const { runningSinceMs: _since, ...ended } = { ...running, endedAtMs: 12 * minute };
  expect(timesText(ended, 99 * minute)).toBe("12m, ran 2m");
});

test("100% is shown only for all", () => {
  expect(percentText(0.999)).toBe("99%");
  expect(percentText(1)).toBe("100%");
  expect(percentText(0.29)).toBe("29%");
});
