import { expect, test } from "vitest";
import { positionText } from "./position-text.ts";

test("a trial's position has the batches and epochs that it reported, and nothing else", () => {
  expect(positionText({ latestValidation: { batches: 1_200, epochs: 3, loss: 0.1 } })).toBe(
    "batch 1,200 · epoch 3",
  );
  expect(positionText({ latestValidation: { loss: 0.1 } })).toBe("");
});
