import { encodedBytes, type EventOf } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import type { HyperparameterSpace, SearcherConfig } from "@trainyard/experiment-config";
import { limits } from "@trainyard/kernel";
import { describe, expect, it } from "vitest";
import { chosenEarlier, EarlierReader, type EarlierTrials } from "./earlier.ts";
import type { SearchEvent } from "./events.ts";
import { autoOf, bohbOf } from "./testing/halving.ts";
import { replaySearch } from "./replay/replay.ts";
import { simulate } from "./simulation/simulate.ts";
import { branin } from "./testing/functions.ts";
import { configOf, DrivenSearch, gpOf, randomOf, tpeOf, validation } from "./testing/searches.ts";

const space: HyperparameterSpace = {
  a: { type: "int", minval: 1, maxval: 9, count: null },
  o: { type: "categorical", vals: ["x", "y"] },
  m: { type: "double", minval: 0, maxval: 1, count: null, when: { "/o": ["x"] } },
  epochs: { type: "const", val: 10 },
};
const loss = { metric: "loss", smaller_is_better: true };

function earlierOf(points: readonly { [key: string]: number | string }[]): EarlierTrials {
  return {
    leftOut: 0,
    trials: points.map((hyperparameters, i) => ({
      experiment: "3",
      trial: i + 1,
      hyperparameters,
      values: { loss: i },
    })),
  };
}

const anySize = (): boolean => true;

type Point = Readonly<Record<string, number | string>>;

const pointOf = (hyperparameters: number): Point =>
  Object.fromEntries(
    Array.from({ length: hyperparameters }, (_, i) => [`hyperparameter_${i}`, 0.1234567890123 + i]),
  );

/** A space that contains the point, with any `a` from 1 to 9. */
function spaceOf(point: Point): HyperparameterSpace {
  const entries = Object.entries(point).map(([name, value]) => [
    name,
    typeof value === "string"
      ? { type: "categorical", vals: [value, "y"] }
      : { type: "double", minval: 0, maxval: 100, count: null },
  ]);
  return { a: space["a"], ...Object.fromEntries(entries) } as HyperparameterSpace;
}

function startOf(search: DrivenSearch): EventOf<"SearchStarted"> {
  const [started] = search.events;
  if (started?.type !== "SearchStarted") throw new Error("the search has started");
  return started;
}

describe("the reader of a search's events", () => {
  it("returns the trained trials, each with its best value", () => {
    const search = new DrivenSearch();
    search.start(configOf(randomOf(5, 5)));
    search.validate(1, 1, 0.5);
    search.validate(1, 2, 0.2);
    search.validate(1, 3, 0.4);
    search.validate(2, 1, Number.NaN);
    search.validate(3, 1, 0.1);
    search.validate(4, 1, 0.7);
    search.end(4, TrialOutcome.STOPPED_EARLY);
    search.end(1, TrialOutcome.COMPLETED);
    search.end(2, TrialOutcome.COMPLETED);
    search.end(3, TrialOutcome.FAILED);
    const [first] = search.proposals();
    expect(readTrials("7", search.events, loss)).toMatchObject([
      { experiment: "7", trial: 1, hyperparameters: first?.hyperparameters, values: { loss: 0.2 } },
      { trial: 4, values: { loss: 0.7 } },
    ]);
    expect(readTrials("7", search.events, { ...loss, smaller_is_better: false })).toEqual([]);
    expect(readTrials("7", search.events, { ...loss, metric: "accuracy" })).toEqual([]);
    // No trial of this search has reported a speed.
    expect(readTrials("7", search.events, several)).toEqual([]);
  });

  it("returns, for several metrics, the values of the last report", () => {
    const search = new DrivenSearch();
    search.start(configOf({ ...randomOf(1, 1), ...several } as SearcherConfig));
    search.send(validation(1, 1, { loss: 0.1, speed: 3 }));
    search.send(validation(1, 2, { loss: 0.4, speed: 5 }));
    search.end(1, TrialOutcome.COMPLETED);
    expect(readTrials("7", search.events, several)).toMatchObject([
      { trial: 1, values: { loss: 0.4, speed: 5 } },
    ]);
    expect(readTrials("7", search.events, loss)).toMatchObject([{ values: { loss: 0.1 } }]);
  });
});

const several = { ...loss, objectives: [loss, { metric: "speed", smaller_is_better: false }] };

function readTrials(experiment: string, events: readonly SearchEvent[], wanted: typeof loss) {
  const reader = new EarlierReader(experiment, wanted);
  for (const event of events) reader.read(event);
  return reader.trials();
}

describe("earlier trials", () => {
  it("count if they fit the space, whatever other hyperparameters they had", () => {
    const { trials, leftOut } = chosenEarlier(
      space,
      loss,
      earlierOf([
        { a: 3, o: "y", epochs: 5, other: 1 },
        { a: 3, o: "x", m: 0.5 },
        { a: 3, o: "x" },
        { a: 10, o: "y" },
        { a: 3, o: "z" },
        { o: "y" },
        { a: 4, o: "y", m: 0.5 },
      ]),
      anySize,
    );
    expect(trials.map(({ trial }) => trial)).toEqual([1, 2, 7]);
    expect(trials.map(({ hyperparameters }) => hyperparameters)).toEqual([
      { a: 3, o: "y" },
      { a: 3, o: "x", m: 0.5 },
      { a: 4, o: "y" },
    ]);
    expect(leftOut).toBe(4);
  });

  it.each<[string, number, number, Point, number]>([
    ["of fifteen hyperparameters", 500, 500, pointOf(15), 300],
    ["of six hyperparameters", 1_000, 1_000, pointOf(6), 700],
    ["of long texts", 500, 40, { text: "x".repeat(40_000) }, 4],
    ["of long texts in another script", 500, 40, { text: "界".repeat(13_000) }, 4],
    ["of texts full of quotes", 500, 40, { text: '"'.repeat(20_000) }, 4],
  ])("are limited to what one event can contain: %s", (_, max, count, point, least) => {
    const points = Array.from({ length: count }, (__, i) => ({ ...point, a: 1 + (i % 9) }));
    const wide = spaceOf(point);
    const searcher = { ...tpeOf(20, 2), warm_start: { experiments: [3], max_trials: max } };
    const command = {
      type: "StartSearch",
      config: configOf(searcher, wide),
      seed: 1,
      earlier: earlierOf(points),
    } as const;
    const search = new DrivenSearch();
    search.send(command);
    const started = startOf(search);
    expect(encodedBytes(started)).toBeLessThanOrEqual(limits.eventBodyBytesMax);
    const { earlier } = started.data;
    expect(earlier?.trials.length).toBeGreaterThan(least);
    expect((earlier?.trials.length ?? 0) + (earlier?.leftOut ?? 0)).toBe(count);
    // Choosing again among the recorded trials selects the same ones.
    const again = new DrivenSearch();
    again.send({ ...command, earlier: earlier ?? { trials: [], leftOut: 0 } });
    expect(startOf(again)).toEqual(started);
  });

  it("beyond the limit are reduced to the best and a sample of the others", () => {
    const many = earlierOf(Array.from({ length: 100 }, (_, i) => ({ a: 1 + (i % 9), o: "y" })));
    const { trials, leftOut } = chosenEarlier(
      space,
      { ...loss, warm_start: { max_trials: 20 } },
      many,
      anySize,
    );
    const numbers = trials.map(({ trial }) => trial);
    expect(numbers.slice(0, 10)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(numbers.slice(10)).toEqual([15, 24, 33, 42, 51, 60, 69, 78, 87, 96]);
    expect(leftOut).toBe(80);
    const chosen = { trials, leftOut };
    const again = { ...loss, warm_start: { max_trials: 20 } };
    expect(chosenEarlier(space, again, chosen, anySize)).toEqual(chosen);
  });
});

/** The results of a random search on Branin, as earlier trials of another search. */
function found(trials: number): EarlierTrials {
  const { events } = simulate(configOf(randomOf(trials, 4), branin.space), 11, 4, (point) => ({
    value: branin.valueAt(point),
    duration: 1,
  }));
  return { trials: readTrials("3", events, loss), leftOut: 0 };
}

describe.each<[string, SearcherConfig]>([
  ["tpe", tpeOf(20, 2)],
  ["gp", gpOf(20, 2)],
  ["auto", autoOf({ max_concurrent_trials: 2 })],
  ["bohb", bohbOf({ max_concurrent_trials: 2 })],
])("a search by %s with earlier trials", (_name, searcher) => {
  const config = configOf({ ...searcher, warm_start: { experiments: [3] } }, branin.space);

  it("proposes from its model in its first decisions", () => {
    const search = new DrivenSearch();
    search.send({ type: "StartSearch", config, seed: 1, earlier: found(40) });
    const proposals = search.proposals();
    // A search by a Gaussian process proposes no trial yet: it waits for a suggestion.
    expect(proposals.length === 0 || proposals.some(({ origin }) => origin === "model")).toBe(true);
    expect(search.completion()).toBeUndefined();
  });

  it("replays the same events with earlier trials", () => {
    const search = new DrivenSearch();
    search.send({ type: "StartSearch", config, seed: 1, earlier: found(40) });
    expect(replaySearch(search.events).differences).toEqual([]);
  });
});

describe("the value of earlier trials", () => {
  /** Returns the best value of ten trials that run one after the other. */
  function bestOfTen(seed: number, earlier: EarlierTrials | undefined): number {
    const search = new DrivenSearch();
    const config = configOf(tpeOf(10, 1), branin.space);
    search.send({ type: "StartSearch", config, seed, ...(earlier ? { earlier } : {}) });
    for (let trial = 1; trial <= 10; trial += 1) {
      const { hyperparameters = {} } = search.proposals()[trial - 1] ?? {};
      search.validate(trial, 1, branin.valueAt(hyperparameters));
      search.end(trial, TrialOutcome.COMPLETED);
    }
    return search.completion()?.bestValue ?? Number.POSITIVE_INFINITY;
  }

  it("more than halves the regret of ten trials by TPE on Branin", () => {
    const earlier = found(40);
    const seeds = Array.from({ length: 15 }, (_, seed) => seed);
    const median = (values: number[]): number => values.sort((a, b) => a - b)[7] ?? 0;
    const cold = median(seeds.map((seed) => bestOfTen(seed, undefined)));
    const warm = median(seeds.map((seed) => bestOfTen(seed, earlier)));
    expect(warm - branin.minimum).toBeLessThan((cold - branin.minimum) / 2);
  });
});
