/**
 * The line of a trial: its ancestors, each of which continued from a checkpoint of the one before, with the time range
 * of its training in the line. For a population, this is the schedule that it found. The line depends only on the
 * search's events.
 */
import type { EventData } from "@trainyard/contracts";
import { type JsonObject, searcherFacts } from "@trainyard/experiment-config";
import { bestShown } from "../best.ts";
import { SearchMachine } from "../machine.ts";
import type { SearchEvent } from "../events.ts";

export type LineSegment = {
  readonly trial: number;
  readonly from: number;
  readonly until: number;
  readonly hyperparameters: JsonObject;
  readonly seed: number;
};

/** Returns the line from the first ancestor to the trial; empty if the trial was never trained. */
export function lineOf(events: readonly SearchEvent[], trial: number): readonly LineSegment[] {
  const proposals = new Map<number, EventData<"TrialProposed">>();
  let until = 0;
  for (const event of events) {
    if (event.type === "TrialProposed") proposals.set(event.data.number, event.data);
    else if (event.type === "ObservationRecorded" && event.data.trial === trial) {
      until = Math.max(until, event.data.time);
    }
  }
  const line: LineSegment[] = [];
  for (let next = proposals.get(trial); next !== undefined; ) {
    const { number, hyperparameters = {}, seed, startFromTrial, startFromTime: from = 0 } = next;
    if (until > from) line.unshift({ trial: number, from, until, hyperparameters, seed });
    until = from;
    // A trial that counts its time from 0 begins a line, even if its weights are from a checkpoint.
    next = from === 0 || startFromTrial === undefined ? undefined : proposals.get(startFromTrial);
  }
  return line;
}

/** The trial with the best value among those that did not fail; null for none. */
export function bestTrialOf(events: readonly SearchEvent[]): number | null {
  return bestShown(SearchMachine.of(events).state)?.trial ?? null;
}

/** Whether trials of the search start from other trials, so that hyperparameters change along a line. */
export function continuesTrials(events: readonly SearchEvent[]): boolean {
  return events.some(
    (event) =>
      (event.type === "SearchStarted" && searcherFacts(event.data.algorithm).hasLines) ||
      (event.type === "TrialProposed" && event.data.startFromTrial !== undefined),
  );
}

/** Returns the searcher section that trains the line again as one run. */
export function scheduleOf(
  events: readonly SearchEvent[],
  line: readonly LineSegment[],
): JsonObject | null {
  const [started] = events;
  if (started?.type !== "SearchStarted" || line.length === 0) return null;
  const { metric, smallerIsBetter, timeMetric } = started.data;
  return {
    name: "schedule",
    metric,
    smaller_is_better: smallerIsBetter,
    ...(timeMetric === "" ? {} : { time_metric: timeMetric }),
    schedule: line.map(({ until, hyperparameters, seed }) => ({ until, hyperparameters, seed })),
  };
}
