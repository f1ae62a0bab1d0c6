import { expect, test } from "vitest";
import { areText, labelChange, labelsOf } from "./labels.ts";

test("an edit of labels is the labels to add and the labels to remove", () => {
  expect(labelChange(["old", "prod"], " prod, new ,, new")).toEqual({
    addLabels: ["new"],
    removeLabels: ["old"],
  });
  expect(labelChange(["a"], "")).toEqual({ addLabels: [], removeLabels: ["a"] });
});

test("a text with the same labels is no change, whatever their order and the spaces around them", () => {
  expect(labelChange(["a", "b"], "a, b")).toBeNull();
  expect(labelChange(["a", "b"], "b, a")).toBeNull();
  expect(labelChange([" a", "b"], " a, b")).toBeNull();
});

test("the labels of a text are between its commas, each once", () => {
  expect(labelsOf(" b , c,, c")).toEqual(["b", "c"]);
  expect(labelsOf("")).toEqual([]);
});

test("a label with a comma cannot be edited as text, which would split it", () => {
  expect(areText(["a", "b"])).toBe(true);
  expect(areText(["a", "lr=0.1,0.2"])).toBe(false);
});
