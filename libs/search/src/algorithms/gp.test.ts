import { decodeEvent, encodeEvent } from "@trainyard/contracts";
import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import type { HyperparameterSpace } from "@trainyard/experiment-config";
import { draw } from "@trainyard/kernel";
import { describe, expect, it } from "vitest";
import { SearchMachine } from "../machine.ts";
import type { SearchEvent } from "../events.ts";
import { replaySearch } from "../replay/replay.ts";
import { stored } from "../testing/recorded-search.ts";
import { suggestionIn } from "./recorded-suggestion.ts";
import { incumbents, simulate } from "../simulation/simulate.ts";
import { encodeSearch } from "../snapshot.ts";
import { branin, hartmann6, type TestFunction } from "../testing/functions.ts";
import { suggestionOf } from "../suggestions.ts";
import { configOf, DrivenSearch, gpOf, randomOf, sobolOf } from "../testing/searches.ts";

const { COMPLETED, FAILED, INVALID_HYPERPARAMETERS: INVALID } = TrialOutcome;

const mixed: HyperparameterSpace = {
  lr: { type: "log", minval: -4, maxval: -1, base: 10, count: null },
  layers: { type: "int", minval: 1, maxval: 6, count: null },
  optimizer: { type: "categorical", vals: ["sgd", "adam", "lamb"] },
};

function lossAt(point: unknown): number {
  const { lr, layers, optimizer } = point as { lr: number; layers: number; optimizer: string };
  const rate = Math.log10(lr) + 2;
  return rate * rate + 0.2 * (layers - 4) ** 2 + (optimizer === "adam" ? 0 : 1);
}

const points = (search: DrivenSearch): unknown[] =>
  search.proposals().map(({ hyperparameters }) => hyperparameters);

function simulated(of: TestFunction, trials: number, workers: number, seed: number) {
  return simulate(configOf(gpOf(trials, workers), of.space), seed, workers, (point, trial) => ({
    value: of.valueAt(point),
    duration: 0.5 + draw(seed, "duration", trial),
  }));
}

describe("search by a Gaussian process", () => {
  it("fills the space until enough trials have ended, then follows the model", () => {
    const search = new DrivenSearch();
    search.start(configOf(gpOf(30, 1), mixed), 7);
    for (let trial = 1; search.completion() === undefined; trial += 1) {
      search.validate(trial, 1, lossAt(points(search)[trial - 1]));
      search.end(trial, COMPLETED);
    }
    const filling = new DrivenSearch();
    filling.start(configOf(sobolOf(9, 0), mixed), 7);
    expect(points(search).slice(0, 8)).toEqual(points(filling).slice(0, 8));
    expect(points(search)[8]).not.toEqual(points(filling)[8]);
    expect(search.completion()?.bestValue).toBeLessThan(0.02);
    for (const point of points(search)) {
      const { layers, optimizer } = point as { layers: number; optimizer: string };
      expect([1, 2, 3, 4, 5, 6]).toContain(layers);
      expect(["sgd", "adam", "lamb"]).toContain(optimizer);
    }
  });

  it("finds a point near Branin's minimum in 40 trials", () => {
    const { ended } = simulated(branin, 40, 1, 1);
    expect(incumbents(ended, true).at(-1)).toBeLessThan(0.41);
  });

  it("has far less regret than random search on Hartmann6 with eight trials at a time", () => {
    const bests = [1, 2, 3].map((seed) => {
      const world = (point: Parameters<TestFunction["valueAt"]>[0]) => ({
        value: hartmann6.valueAt(point),
        duration: 1,
      });
      const random = simulate(configOf(randomOf(50, 8), hartmann6.space), seed, 8, world);
      const best = (ended: typeof random.ended) => incumbents(ended, true).at(-1) ?? 0;
      return [best(simulated(hartmann6, 50, 8, seed).ended), best(random.ended)] as const;
    });
    for (const [model, random] of bests) expect(model).toBeLessThan(random - 0.3);
  });

  it("never proposes a running trial's point again", () => {
    const search = new DrivenSearch();
    search.start(configOf(gpOf(40, 12), branin.space), 3);
    for (let trial = 1; trial <= 12; trial += 1) {
      search.validate(trial, 1, trial);
      search.end(trial, COMPLETED);
    }
    const texts = points(search).map((point) => JSON.stringify(point));
    expect(texts).toHaveLength(24);
    expect(new Set(texts).size).toBe(24);
  });

  it("decides the same from a snapshot before each event, with every event repeated", () => {
    const { events, state } = simulated(branin, 24, 4, 5);
    const stored = events.map((event) => decodeEvent(encodeEvent(event)) as SearchEvent);
    const whole = SearchMachine.restored(SearchMachine.of(stored.slice(0, 30)).snapshot());
    for (const event of stored.slice(30)) whole?.apply(event);
    expect(whole?.snapshot()).toBe(encodeSearch(state));
    const search = new DrivenSearch();
    search.start(configOf(gpOf(24, 4), branin.space), 5);
    for (const event of stored) {
      search.restore();
      for (const _ of [1, 2]) {
        if (event.type === "ObservationRecorded") {
          const { trial, time, values, measurement } = event.data;
          const runs = { run: 1, currentRun: 1, step: time };
          search.send({ type: "RecordValidation", trial, ...runs, scalars: values, measurement });
        } else if (event.type === "TrialOutcomeRecorded") {
          search.end(event.data.trial, event.data.outcome);
        }
      }
    }
    expect(search.events.map((event) => decodeEvent(encodeEvent(event)))).toEqual(stored);
  });

  it("keeps filling the space while all results are equal", () => {
    const search = new DrivenSearch();
    search.start(configOf(gpOf(14, 1), branin.space), 3);
    for (let trial = 1; trial <= 12; trial += 1) {
      search.end(trial, trial % 2 ? INVALID : FAILED);
    }
    for (let trial = 13; search.completion() === undefined; trial += 1) {
      search.validate(trial, 1, trial % 2 ? Number.NaN : 1);
      search.end(trial, COMPLETED);
    }
    expect(points(search)).toHaveLength(20);
    expect(search.completion()).toMatchObject({ reason: SearchCompletion.EXHAUSTED });
  });
});

describe("suggestions that are prepared ahead", () => {
  /**
   * A search with `atOnce` concurrent trials: `ended` trials end while the model answers, then `away` trials without
   * it.
   */
  const searchOf = (atOnce: number, ended: number, away: number): DrivenSearch => {
    const search = new DrivenSearch();
    search.start(configOf(gpOf(60, atOnce), branin.space), 3);
    for (let trial = 1; trial <= ended + away; trial += 1) {
      search.modelIsAway = trial > ended;
      search.validate(trial, 1, (trial * 7) % 5);
      search.end(trial, COMPLETED);
    }
    return search;
  };
  const newest = (search: DrivenSearch) => search.proposals().at(-1);

  it("include the newest result if one trial runs at a time", () => {
    const search = searchOf(1, 9, 1);
    expect(search.proposals()).toHaveLength(10);
    expect(search.completion()).toBe(undefined);
    search.modelIsAway = false;
    search.end(10, COMPLETED);
    expect(newest(search)).toMatchObject({
      number: 11,
      origin: "model",
      evidence: { results: 10, lacking: 0 },
    });
  });

  it.each([
    { atOnce: 8, goesOn: true },
    { atOnce: 5, goesOn: true },
    { atOnce: 4, goesOn: false },
  ])("may lack the newest result with $atOnce trials at a time: $goesOn", (given) => {
    const search = searchOf(given.atOnce, 12, 1);
    const evidence = { results: 12, lacking: 1, deviation: expect.any(Number) };
    if (given.goesOn) expect(newest(search)).toMatchObject({ origin: "model", evidence });
    else expect(search.state.unended).toBe(given.atOnce - 1);
  });

  it("are replaced by the point of the sequence after a timeout", () => {
    const search = searchOf(4, 12, 1);
    search.send({ type: "GoWithoutSuggestion", trial: 17, waitedMs: 1_000 });
    const [filling] = points(search).slice(-1);
    expect(newest(search)).toMatchObject({
      number: 17,
      origin: "space_filling",
      evidence: { reason: "no_suggestion_in_time", waited_ms: 1_000 },
    });
    const sequence = new DrivenSearch();
    sequence.start(configOf(sobolOf(17, 0), branin.space), 3);
    expect(filling).toEqual(points(sequence)[16]);
    expect(search.send({ type: "GoWithoutSuggestion", trial: 18, waitedMs: 1 })).toEqual([]);
  });

  it("are ignored once their trial was proposed, or if they know no newer results", () => {
    const search = searchOf(8, 14, 0);
    const offers = search.events.flatMap((event) =>
      event.type === "SuggestionPrepared" ? [event.data] : [],
    );
    for (const offer of offers) {
      expect(search.send({ type: "OfferSuggestion", ...suggestionIn(offer) })).toEqual([]);
    }
  });

  it("can each be recomputed from the search at the suggestion's version", () => {
    const { events } = simulated(branin, 24, 6, 5);
    const prepared = events.filter(({ type }) => type === "SuggestionPrepared");
    expect(prepared.length).toBeGreaterThan(6);
    for (const event of prepared) {
      if (event.type !== "SuggestionPrepared") continue;
      const { searchVersion } = event.data;
      const { state } = SearchMachine.of(events.slice(0, searchVersion));
      expect(suggestionOf(state)).toEqual({ type: "OfferSuggestion", ...event.data });
    }
  });

  it("are inputs: a replay decides the same without a model", () => {
    const search = searchOf(4, 12, 1);
    search.send({ type: "GoWithoutSuggestion", trial: 17, waitedMs: 1_000 });
    for (const { events } of [search, simulated(branin, 20, 6, 5)]) {
      expect(replaySearch(stored(events)).differences).toEqual([]);
    }
  });
});
