import { expect, test } from "vitest";
import { categoricalOf } from "./plot-rows.ts";

test("categorical hyperparameters are found by their path", () => {
  const width = { type: "categorical", vals: [4, 8, 16] };
  const lr = { type: "log", base: 10, minval: -4, maxval: -1 };
  const hyperparameters = { width, lr, model: { depth: width, vals: [1] }, batch: 8, none: null };
  expect([...categoricalOf({ hyperparameters })]).toEqual(["width", "model.depth"]);
  expect(categoricalOf(undefined).size + categoricalOf({ hyperparameters: [1] }).size).toBe(0);
});
