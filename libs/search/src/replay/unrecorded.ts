/** Finds metrics that a searcher needs but a recorded search lacks, since it recorded only the metrics that it read. */
import type { SearchedConfig } from "../commands.ts";
import type { SearchEvent } from "../events.ts";
import { objectivesOf } from "../objectives.ts";

export type Unrecorded = {
  /** The key of the searcher section that names the metric. */
  readonly key: "metric" | "objectives" | "time_metric";
  readonly name: string;
  /** The names that were recorded, in alphabetical order. */
  readonly recorded: readonly string[];
};

/** Returns the first needed metric that no recorded report has; null if none is missing, or without any report. */
export function unrecordedBy(
  events: readonly SearchEvent[],
  { searcher }: SearchedConfig,
): Unrecorded | null {
  const names = new Set<string>();
  for (const event of events) {
    if (event.type !== "ObservationRecorded") continue;
    for (const name of Object.keys(event.data.values)) names.add(name);
  }
  if (names.size === 0) return null;
  const recorded = [...names].sort();
  const objectives = objectivesOf(searcher);
  for (const one of objectives) {
    if (names.has(one.metric)) continue;
    const key = objectives.length > 1 ? "objectives" : "metric";
    return { key, name: one.metric, recorded };
  }
  const time = searcher.time_metric ?? "";
  // A missing `batches` is the step, which every report has.
  const isStep = time === "" || time === "batches";
  return isStep || names.has(time) ? null : { key: "time_metric", name: time, recorded };
}
