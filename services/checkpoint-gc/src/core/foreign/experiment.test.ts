import type { AnyEvent } from "@trainyard/contracts";
import { expect, test } from "vitest";
import { evolveExperiment, unknownExperiment } from "./experiment.ts";

function startsFromCheckpoints(name: string): boolean {
  const data = { config: { searcher: { name, metric: "loss" } } };
  const created = { type: "ExperimentCreated", data } as unknown as AnyEvent;
  return evolveExperiment(unknownExperiment, created).startsFromCheckpoints;
}

test.each([
  ["pbt", true],
  ["custom", true],
  ["a_later_searcher", true],
  ["", true],
  ["schedule", false],
  ["random", false],
  ["asha", false],
])("whether trials of searcher %j may start from any checkpoint is %j", (name, may) => {
  expect(startsFromCheckpoints(name)).toBe(may);
});
