/** The searcher that asks a process outside: its configuration with every default filled in. */
import { type JsonObject, valueAt } from "./json.ts";

export type CustomSearcher = {
  readonly name: "custom";
  readonly metric: string;
  readonly smaller_is_better: boolean;
  /** How many trials the client may propose; 0 for any number. */
  readonly max_trials: number;
  /** Trials unended and not suspended at one time; 0 for no limit. */
  readonly max_concurrent_trials: number;
  /** When a trial ends that its client lets train on; absent for when its code ends. */
  readonly max_time?: number;
  /** What targets count in; empty for the training step. */
  readonly time_metric: string;
};

/** Null for another searcher. */
export function normaliseCustom(
  searcher: JsonObject,
  metric: string,
  smaller_is_better: boolean,
): CustomSearcher | null {
  if (valueAt(searcher, "name") !== "custom") return null;
  const [trials, concurrent, time, maxTime] = [
    valueAt(searcher, "max_trials"),
    valueAt(searcher, "max_concurrent_trials"),
    valueAt(searcher, "time_metric"),
    valueAt(searcher, "max_time"),
  ];
  return {
    name: "custom",
    metric,
    smaller_is_better,
    max_trials: typeof trials === "number" ? trials : 0,
    max_concurrent_trials: typeof concurrent === "number" ? concurrent : 0,
    ...(typeof maxTime === "number" ? { max_time: maxTime } : {}),
    time_metric: typeof time === "string" ? time : "",
  };
}
