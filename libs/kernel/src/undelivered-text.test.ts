import { expect, test } from "vitest";
import { undeliveredText } from "./undelivered-text.ts";

test("checkpoints that are not stored yet are shown with their number, size and runs", () => {
  const runs = ["12.1#1", "12.2#1", "12.3#1", "12.4#1"];
  expect(undeliveredText(undefined)).toBe("");
  expect(undeliveredText({ checkpoints: 3, bytes: 12.04e9, runs: [] })).toBe(
    "3 checkpoints, 12 GB",
  );
  expect(undeliveredText({ checkpoints: 1, bytes: 2_500_000, runs: ["12.1#1"] })).toBe(
    "1 checkpoint, 2.5 MB (12.1#1)",
  );
  expect(undeliveredText({ checkpoints: 5, bytes: 10, runs })).toBe(
    "5 checkpoints, 10 bytes (12.1#1, 12.2#1, 12.3#1, …)",
  );
});
