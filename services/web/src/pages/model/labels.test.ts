import { expect, it } from "vitest";
import { areText, labelChange } from "./labels.ts";

it("labels that are new in the text are added, and those it lacks are removed", () => {
  expect(labelChange(["a", "b"], " b , c,, c")).toEqual({ addLabels: ["c"], removeLabels: ["a"] });
});

it("an unchanged text changes no label", () => {
  expect(labelChange(["a", "b"], "a, b")).toEqual({ addLabels: [], removeLabels: [] });
});

it("a label with a comma is not edited as a text, which would split it", () => {
  expect(areText(["a", "b"])).toBe(true);
  expect(areText(["a", "lr=0.1,0.2"])).toBe(false);
});
