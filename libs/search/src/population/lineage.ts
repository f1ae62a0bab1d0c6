/**
 * The line of a trial: the trials that lead to it, each of which went on from a checkpoint of the one before, with the
 * times between which its training is part of the line. Of a population this is the schedule that it found. A function
 * of the search's events.
 */
import type { EventData } from "@trainyard/contracts";
import type { JsonObject } from "@trainyard/experiment-config";
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

/** From the first trial of the line to the one that is asked for; empty where that was never trained. */
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
    // A trial that counts from 0 begins a line, whatever checkpoint its weights are of.
    next = from === 0 || startFromTrial === undefined ? undefined : proposals.get(startFromTrial);
  }
  return line;
}

/** The trial whose value is the best, of those that did not fail; null while there is none. */
export function bestTrialOf(events: readonly SearchEvent[]): number | null {
  return bestShown(SearchMachine.of(events).state)?.trial ?? null;
}

const continuing: readonly string[] = ["pbt", "schedule"];

/** Whether trials of the search start from others, so that hyperparameters change on the way to one. */
export function continuesTrials(events: readonly SearchEvent[]): boolean {
  return events.some(
    (event) =>
      (event.type === "SearchStarted" &&
        continuing.includes(String(event.data.searcher?.["name"]))) ||
      (event.type === "TrialProposed" && event.data.startFromTrial !== undefined),
  );
}

/** The searcher section that trains a line once more, as one run. */
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
