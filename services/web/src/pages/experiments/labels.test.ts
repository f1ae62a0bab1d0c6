import { expect, test } from "vitest";
import { labelChange } from "./labels.ts";

test("edited labels are what is added and what is removed", () => {
  expect(labelChange(["old", "prod"], " prod, new ,, new")).toEqual({
    addLabels: ["new"],
    removeLabels: ["old"],
  });
  expect(labelChange(["a", "b"], "b, a")).toBeNull();
  expect(labelChange(["a"], "")).toEqual({ addLabels: [], removeLabels: ["a"] });
});
