import { expect, test } from "vitest";
import { isPositionMetric } from "./position-metrics.ts";

test("batches, epochs and progress are positions, and names that contain them are metrics", () => {
  expect(["batches", "epochs", "progress"].every(isPositionMetric)).toBe(true);
  const metrics = ["loss", "epochs_per_second", "Progress", "", "constructor"];
  expect(metrics.some(isPositionMetric)).toBe(false);
});
