import { type AnyEvent, decodeEvent } from "@trainyard/contracts";
import { categoryOf } from "@trainyard/kernel";
import {
  proposedTrials,
  sampledPoint,
  type SearchEvent,
  SearchMachine,
  type SearchState,
  timesOf,
  trialOf,
  trialSeed,
} from "@trainyard/search";
import { describe, expect, it } from "vitest";
import {
  evolveExperiment,
  initialExperiment,
} from "../../services/experiments/src/core/experiment/evolve.ts";
import type { ExperimentEvent } from "../../services/experiments/src/core/experiment/state.ts";
import { evolveSearch, initialSearch } from "../../services/experiments/src/core/foreign/search.ts";
import { evolveTrial, initialTrial } from "../../services/experiments/src/core/trial/evolve.ts";
import type { TrialEvent } from "../../services/experiments/src/core/trial/state.ts";
import { type HistoryLine, historyNames, readHistory, readStates } from "./fixtures.ts";

/** The fold of each kind of stream. A search has two readers: its owner, and the experiments that follow it. */
const folds: Readonly<Record<string, (events: readonly AnyEvent[]) => unknown>> = {
  experiment: (events) =>
    (events as readonly ExperimentEvent[]).reduce(evolveExperiment, initialExperiment),
  trial: (events) => (events as readonly TrialEvent[]).reduce(evolveTrial, initialTrial),
  search: (events) => ({
    searcher: listed(foldSearch(events as readonly SearchEvent[])),
    experiments: events.reduce(evolveSearch, initialSearch),
  }),
};

function foldSearch(events: readonly SearchEvent[]): SearchState {
  return SearchMachine.of(events).state;
}

/** The state with its trials and their observation times as lists, since a fold's own collections may change. */
function listed(search: SearchState): unknown {
  const trials = Array.from({ length: proposedTrials(search) }, (_, i) => {
    const trial = trialOf(search, i + 1);
    return { ...trial, times: trial === undefined ? [] : [...timesOf(trial.times)] };
  });
  return { ...search, trials };
}

function statesOf(history: readonly HistoryLine[]): Readonly<Record<string, unknown>> {
  const streams = Map.groupBy(history, ({ stream }) => stream);
  return Object.fromEntries(
    [...streams].map(([stream, lines]) => {
      const fold = folds[categoryOf(stream)];
      if (fold === undefined) throw new Error(`nothing folds ${stream}`);
      return [stream, fold(lines.map(decodeEvent))];
    }),
  );
}

/** Returns the state as JSON would store it: an undefined value is absent. */
const written = (state: unknown): unknown => JSON.parse(JSON.stringify(state));

describe("a recorded history", () => {
  it("exists for each kind of stream", () => {
    expect(historyNames()).not.toEqual([]);
  });

  it.each(historyNames())("%s folds to its recorded states", (name) => {
    // A fold may have more fields than in the past, but no other values.
    expect(written(statesOf(readHistory(name)))).toMatchObject(readStates(name));
  });

  it.each(historyNames().filter((name) => /search|grid/.test(name)))(
    "%s continues from a snapshot taken anywhere as if it had been folded whole",
    (name) => {
      const events = readHistory(name).map(decodeEvent) as readonly SearchEvent[];
      const whole = foldSearch(events);
      for (let cut = 1; cut < events.length; cut += 1) {
        const restored = SearchMachine.restored(SearchMachine.of(events.slice(0, cut)).snapshot());
        if (restored === null) throw new Error("the snapshot cannot be read");
        for (const event of events.slice(cut)) restored.apply(event);
        expect(written(restored.state)).toEqual(written(whole));
      }
    },
  );
});

it("the same seed gives the same trials forever", () => {
  const events = readHistory("random-search").map(decodeEvent) as readonly SearchEvent[];
  const { plan } = foldSearch(events);
  if (plan === null) throw new Error("the search never started");
  const proposals = events.flatMap((event) => (event.type === "TrialProposed" ? [event.data] : []));
  expect(proposals).not.toEqual([]);
  for (const { number, hyperparameters, seed } of proposals) {
    expect(hyperparameters).toEqual(sampledPoint(plan.space, plan.seed, number));
    expect(seed).toBe(trialSeed(plan.seed, number));
  }
});
