/** Drivers of searches for the tests of successive halving. */
import { TrialOutcome } from "@trainyard/contracts/events";
import type {
  AdaptiveAshaSearcher,
  AshaSearcher,
  AsyncHalvingSearcher,
  AutoSearcher,
  BohbSearcher,
  HalvingSearcher,
  HyperbandSearcher,
} from "@trainyard/experiment-config";
import type { SearchEvent } from "../events.ts";
import { configOf, DrivenSearch } from "./searches.ts";
import { type Halving, isHalving, placeOfTrial, unitsOf } from "../halving/state.ts";

const timed = {
  metric: "loss",
  smaller_is_better: true,
  max_time: 9,
  time_metric: "",
  divisor: 3,
  max_concurrent_trials: 16,
} as const;

export const ashaOf = (more: Partial<AshaSearcher> = {}): AshaSearcher => ({
  name: "asha",
  ...timed,
  max_trials: 9,
  min_time: 1,
  resume: true,
  ...more,
});

export const bohbOf = (more: Partial<BohbSearcher> = {}): BohbSearcher => ({
  ...ashaOf(),
  name: "bohb",
  ...more,
});

export const autoOf = (more: Partial<AutoSearcher> = {}): AutoSearcher => ({
  name: "auto",
  ...timed,
  max_trials: 9,
  min_time: 1,
  ...more,
});

export const asyncHalvingOf = (more: Partial<AsyncHalvingSearcher> = {}): AsyncHalvingSearcher => ({
  name: "async_halving",
  ...timed,
  max_trials: 12,
  num_rungs: 3,
  resume: false,
  ...more,
});

export const adaptiveOf = (more: Partial<AdaptiveAshaSearcher> = {}): AdaptiveAshaSearcher => ({
  name: "adaptive_asha",
  ...timed,
  max_trials: 10,
  mode: "standard",
  max_rungs: 5,
  bracket_rungs: [],
  resume: false,
  ...more,
});

export const hyperbandOf = (more: Partial<HyperbandSearcher> = {}): HyperbandSearcher => ({
  name: "hyperband",
  ...timed,
  max_trials: 0,
  ...more,
});

export function startedSearch(config: HalvingSearcher, seed = 1): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf(config), seed);
  return search;
}

export function halvingOf(search: DrivenSearch): Halving {
  const { memory } = search.state;
  if (!isHalving(memory)) throw new Error("the search halves");
  return memory;
}

/** Returns events as short texts that name the trial and the decision. */
export function shortly(events: readonly SearchEvent[]): string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case "TrialProposed":
        return [`new ${event.data.number}`];
      case "TrialResumed":
        return [`${event.data.trial} on to ${event.data.target}`];
      case "TrialSuspended":
        return [`${event.data.trial} waits`];
      case "TrialStopDecided":
        return [`${event.data.trial} ends (${event.data.rule})`];
      case "SearchCompleted":
        return ["done"];
      default:
        return [];
    }
  });
}

/** A trial as in Determined's older test cases: the value that it reports, and the length at which it fails. */
export type Scripted = { readonly value: number; readonly diesAt?: number };

/**
 * Runs a search to its end like Determined's older simulation: trials train in the order of the requests, each up to
 * the requested time. Returns the requested times of each trial, in the order of the trials.
 */
export function timesAskedFor(
  config: HalvingSearcher,
  scriptOf: (trial: number) => Scripted,
): number[][] {
  const search = startedSearch(config);
  const asked: number[][] = [];
  const queue: { readonly trial: number; readonly until: number }[] = [];
  const handle = (events: readonly SearchEvent[]): void => {
    for (const event of events) {
      if (event.type === "TrialProposed") {
        const trial = event.data.number;
        const { bracket } = placeOfTrial(halvingOf(search), trial);
        queue.push({ trial, until: unitsOf(halvingOf(search), bracket, 0) });
      }
      if (event.type === "TrialResumed") {
        queue.push({ trial: event.data.trial, until: event.data.target });
      }
      if (event.type === "TrialStopDecided") {
        handle(search.end(event.data.trial, TrialOutcome.STOPPED_EARLY));
      }
    }
  };
  handle(search.events.slice());
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { trial, until } = next;
    asked[trial - 1] = [...(asked[trial - 1] ?? []), until];
    const { value, diesAt } = scriptOf(trial);
    handle(
      diesAt === until
        ? search.end(trial, TrialOutcome.FAILED)
        : search.validate(trial, until, value),
    );
  }
  if (search.completion() === undefined) throw new Error("the search has not ended");
  return asked;
}
