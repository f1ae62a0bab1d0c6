import { expect, test } from "vitest";
import { hasWords, wordsOf } from "./words.ts";

test("words are runs of letters, digits and underscores in lower case", () => {
  expect([...wordsOf("Loss=0.25 größe_x [GPU-7]")]).toEqual([
    "loss",
    "0",
    "25",
    "größe_x",
    "gpu",
    "7",
  ]);
  expect([...wordsOf(" -- ")]).toEqual([]);
});

test("a text contains words in any order and in either case, and only as whole words", () => {
  const asked = wordsOf("gpu lost");
  expect(hasWords("LOST the gpu:7", asked)).toBe(true);
  expect(hasWords("lost the gpus", asked)).toBe(false);
  expect(hasWords("the gpu", asked)).toBe(false);
});
