import { expect, test } from "vitest";
import { areText, labelChange, labelsOf } from "./labels.ts";

test("edited labels are what is added and what is removed", () => {
  expect(labelChange(["old", "prod"], " prod, new ,, new")).toEqual({
    addLabels: ["new"],
    removeLabels: ["old"],
  });
  expect(labelChange(["a"], "")).toEqual({ addLabels: [], removeLabels: ["a"] });
});

test("a text with the same labels changes none, whatever their order and the spaces around them", () => {
  expect(labelChange(["a", "b"], "a, b")).toBeNull();
  expect(labelChange(["a", "b"], "b, a")).toBeNull();
  expect(labelChange([" a", "b"], " a, b")).toBeNull();
});

test("the labels of a text are between its commas, each once", () => {
  expect(labelsOf(" b , c,, c")).toEqual(["b", "c"]);
  expect(labelsOf("")).toEqual([]);
});

test("a label with a comma is not edited as a text, which would split it", () => {
  expect(areText(["a", "b"])).toBe(true);
  expect(areText(["a", "lr=0.1,0.2"])).toBe(false);
});
