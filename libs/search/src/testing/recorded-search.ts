/** A search that ran to its end on synthetic learning curves, with its events as the log returns them. */
import { type AnyEvent, decodeEvent, encodeEvent } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import type { SearcherConfig } from "@trainyard/experiment-config";
import { draw } from "@trainyard/kernel";
import type { SearchEvent } from "../events.ts";
import { trialOf } from "../state.ts";
import { configOf, DrivenSearch } from "./searches.ts";

/** Runs a search in which each trial reports every step in turn, until it is stopped or has reached `steps`. */
export function recordedSearch(
  searcher: SearcherConfig,
  seed: number,
  steps = 9,
  valueOf = (trial: number, step: number) => draw(seed, "asymptote", trial) + 1 / step,
): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf(searcher), seed);
  const reached = new Map<number, number>();
  for (let moved = true; moved; ) {
    moved = false;
    for (const { number: trial } of search.proposals()) {
      const state = trialOf(search.state, trial);
      if (state?.outcome !== TrialOutcome.UNSPECIFIED || state.wanted === "suspended") continue;
      moved = true;
      if (state.wanted === "stopped") {
        search.end(trial, TrialOutcome.STOPPED_EARLY);
        continue;
      }
      const step = (reached.get(trial) ?? 0) + 1;
      reached.set(trial, step);
      if (step > steps) search.end(trial, TrialOutcome.COMPLETED);
      else search.validate(trial, step, valueOf(trial, step));
    }
  }
  return search;
}

/** Converts events to the form that the log returns: keys in another order, and defaults for absent ones. */
export function stored(events: readonly SearchEvent[]): SearchEvent[] {
  return events.map((event) => decodeEvent(encodeEvent(event as AnyEvent)) as SearchEvent);
}
