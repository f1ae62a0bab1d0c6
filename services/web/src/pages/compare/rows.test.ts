import { expect, test } from "vitest";
import { exampleComparison } from "./testing/example-comparison.ts";
import { nextOrder, placesIn, readOrder, rowsOf } from "./rows.ts";

const config = (slots: number) => ({
  name: "x",
  resources: { slots },
  entrypoint: "train.py",
  hyperparameters: { lr: { type: "double" } },
});
const { trials } = exampleComparison(
  [
    {
      id: "12.1",
      hyperparameters: { lr: 0.1, width: 8 },
      latestValidation: { loss: 3, epochs: 2 },
      bestValidation: { loss: 1 },
    },
    { id: "12.2", hyperparameters: { lr: 0.2, width: 8 }, latestValidation: { loss: Number.NaN } },
    { id: "13.1", hyperparameters: { lr: 0.1 }, latestValidation: { loss: 2 } },
  ],
  [
    { id: "12", config: config(1) },
    { id: "13", config: config(2) },
  ],
);
const rows = rowsOf(trials);
const valuesOf = (key: string) => rows.find((row) => row.key === key)?.values;

test("the table has hyperparameters, metrics and configuration, and marks the rows that differ", () => {
  expect(valuesOf("Hyperparameters width")).toEqual([8, 8, undefined]);
  expect(valuesOf("Latest validation loss")).toEqual([3, Number.NaN, 2]);
  expect(valuesOf("Best validation loss")).toEqual([1, undefined, undefined]);
  expect(valuesOf("Configuration resources.slots")).toEqual([1, 1, 2]);
  const differing = rows.filter(({ differs }) => differs).map(({ key }) => key);
  expect(differing).toEqual([
    "Trial experiment",
    "Latest validation loss",
    "Best validation loss",
    "Hyperparameters lr",
    "Hyperparameters width",
    "Configuration resources.slots",
  ]);
});

test("positions, ranges of hyperparameters and absent labels are no rows", () => {
  const keys = rows.map(({ key }) => key);
  expect(keys).toContain("Configuration entrypoint");
  expect(keys.filter((key) => /epochs|lr\.type|labels|Configuration name/.test(key))).toEqual([
    "Trial labels",
  ]);
  expect(valuesOf("Trial labels")).toEqual([undefined, undefined, undefined]);
});

test("trials are ordered by a row, those without a number last, then as they were", () => {
  const placed = (text: string | undefined) => placesIn(rows, readOrder(text), trials.length);
  expect(placed("Latest validation loss")).toEqual([2, 0, 1]);
  expect(placed("Latest validation loss desc")).toEqual([0, 2, 1]);
  expect(placed("Trial experiment desc")).toEqual([2, 0, 1]);
  expect(placed("no such row")).toEqual([0, 1, 2]);
  expect(placed(undefined)).toEqual([0, 1, 2]);
  const steps = [undefined, "lr", "lr desc"].map((text) => nextOrder(readOrder(text), "lr"));
  expect(steps).toEqual(["lr", "lr desc", undefined]);
});
