/** Builders of operations for the tests of custom search. */
import type { CustomSearcher, JsonObject } from "@trainyard/experiment-config";
import type { PostOperations } from "../commands.ts";
import { configOf, DrivenSearch } from "./searches.ts";
import type { SearchOperation, WishOf } from "../custom/operations.ts";

export const customOf = (more: Partial<CustomSearcher> = {}): CustomSearcher => ({
  name: "custom",
  metric: "loss",
  smaller_is_better: true,
  max_trials: 0,
  max_concurrent_trials: 0,
  time_metric: "",
  ...more,
});

export const inSpace: JsonObject = { lr: 0.01, units: 16 };

export function proposal(id: string, more: Partial<WishOf<"propose">> = {}): SearchOperation {
  const value = { hyperparameters: inSpace, stopAtTarget: false, ...more };
  return { id, operation: { case: "propose", value } };
}

export function stopOf(id: string, trial: number, reason = ""): SearchOperation {
  return { id, operation: { case: "stop", value: { trial, reason } } };
}

export function suspensionOf(id: string, trial: number): SearchOperation {
  return { id, operation: { case: "suspend", value: { trial, reason: "" } } };
}

export function resumptionOf(
  id: string,
  trial: number,
  more: Partial<WishOf<"resume">> = {},
): SearchOperation {
  return { id, operation: { case: "resume", value: { trial, stopAtTarget: false, ...more } } };
}

export function finishOf(id: string, more: Partial<WishOf<"finish">> = {}): SearchOperation {
  const value = { failed: false, reason: "", letTrialsEnd: false, ...more };
  return { id, operation: { case: "finish", value } };
}

export function progressOf(id: string, progress: number): SearchOperation {
  return { id, operation: { case: "progress", value: { progress } } };
}

export function posting(
  operations: readonly SearchOperation[],
  restsOn: number | null = null,
): PostOperations {
  return { type: "PostOperations", operations, restsOn };
}

/** Returns a custom search that has started. */
export function startedCustom(more: Partial<CustomSearcher> = {}): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf(customOf(more)));
  return search;
}
