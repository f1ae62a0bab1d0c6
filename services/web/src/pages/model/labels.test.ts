import { expect, it } from "vitest";
import { labelChange } from "./labels.ts";

it("labels that are new in the text are added, and those it lacks are removed", () => {
  expect(labelChange(["a", "b"], " b , c,, c")).toEqual({ addLabels: ["c"], removeLabels: ["a"] });
});

it("an unchanged text changes no label", () => {
  expect(labelChange(["a", "b"], "a, b")).toEqual({ addLabels: [], removeLabels: [] });
});
