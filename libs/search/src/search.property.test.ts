/** Properties of every search, for any order of its trials' ends and any repeats. */
import type { EventData } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import {
  gridSize,
  type HyperparameterSpace,
  type SearcherConfig,
} from "@trainyard/experiment-config";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldedInTwo } from "./testing/folded-in-two.ts";
import type { SearchCommand } from "./commands.ts";
import { SearchMachine } from "./machine.ts";
import type { SearchEvent } from "./events.ts";
import { searchLimits } from "./limits.ts";
import { encodeSearch } from "./snapshot.ts";
import { readsOf } from "./testing/reads.ts";
import {
  configOf,
  DrivenSearch,
  gridOf,
  proposalsOf,
  randomOf,
  sobolOf,
  validation,
} from "./testing/searches.ts";

const gridSpace: HyperparameterSpace = {
  a: { type: "int", minval: 0, maxval: 4, count: 3 },
  b: { c: { type: "categorical", vals: ["x", "y"] }, d: {} },
};

const outcomes = [
  TrialOutcome.COMPLETED,
  TrialOutcome.STOPPED_EARLY,
  TrialOutcome.CANCELED,
  TrialOutcome.FAILED,
  TrialOutcome.INVALID_HYPERPARAMETERS,
];

/** A random step: an open trial, and its next report or end. */
type Step = {
  readonly pick: number;
  readonly outcome: number;
  readonly time: number;
  readonly value: number;
  readonly twice: boolean;
};

const steps = fc.array(
  fc.record({
    pick: fc.nat(),
    outcome: fc.nat({ max: outcomes.length * 2 }),
    time: fc.nat({ max: 8 }),
    value: fc.oneof(fc.double(), fc.integer({ min: 0, max: 3 })),
    twice: fc.boolean(),
  }),
  { maxLength: 60 },
);

const searcher: fc.Arbitrary<SearcherConfig> = fc
  .tuple(
    fc.constantFrom("random", "grid", "single", "sobol"),
    fc.integer({ min: 1, max: 8 }),
    fc.nat({ max: 4 }),
    fc.boolean(),
  )
  .map(([name, trials, concurrent, smaller_is_better]) => {
    if (name === "grid") return { ...gridOf(concurrent), smaller_is_better };
    if (name === "sobol") return { ...sobolOf(trials, concurrent), smaller_is_better };
    if (name === "random") return { ...randomOf(trials, concurrent), smaller_is_better };
    return { name: "single", metric: "loss", smaller_is_better };
  });

const seeds = fc.nat({ max: 0xffff_ffff });

function unended(search: DrivenSearch): number[] {
  const ended = new Set(
    search.events.flatMap((event) =>
      event.type === "TrialOutcomeRecorded" ? [event.data.trial] : [],
    ),
  );
  return search.proposals().flatMap(({ number }) => (ended.has(number) ? [] : [number]));
}

const ignored: (search: DrivenSearch) => void = () => {};

/** Runs the steps; `look` sees the search after each step. */
function driven(
  config: SearcherConfig,
  seed: number,
  happening: readonly Step[],
  { duplicates = true, look = ignored } = {},
): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf(config, gridSpace), seed);
  look(search);
  for (const { pick, outcome, time, value, twice } of happening) {
    const running = unended(search);
    const trial = running[pick % running.length];
    if (trial === undefined) break;
    const ending = outcomes[outcome];
    for (let times = twice && duplicates ? 2 : 1; times > 0; times -= 1) {
      if (ending !== undefined) search.end(trial, ending);
      else search.send(validation(trial, time, { loss: value }));
      look(search);
    }
  }
  return search;
}

describe("every search", () => {
  it("respects its limits of trials and of concurrency", () => {
    fc.assert(
      fc.property(searcher, seeds, steps, (config, seed, happening) => {
        driven(config, seed, happening, {
          look: (search) => {
            const { plan, outcomes: counts } = search.state;
            const counted = search.proposals().length;
            const most =
              config.name === "grid"
                ? gridSize(gridSpace)
                : "max_trials" in config
                  ? config.max_trials
                  : 1;
            const replaced =
              config.name === "grid"
                ? 0
                : Math.min(counts.invalid, Math.max(searchLimits.replacementsMin, most));
            expect(counted).toBeLessThanOrEqual(most + replaced);
            expect(search.state.unended).toBe(unended(search).length);
            const concurrent = plan?.concurrentTrialsMax ?? 0;
            if (concurrent > 0) expect(search.state.unended).toBeLessThanOrEqual(concurrent);
          },
        });
      }),
    );
  });

  it("gives trial n the same hyperparameters and seed, whatever happened before", () => {
    fc.assert(
      fc.property(searcher, seeds, steps, steps, (config, seed, one, other) => {
        const same = ({
          number,
          hyperparameters,
          seed: trialSeed,
        }: EventData<"TrialProposed">) => ({ number, hyperparameters, trialSeed });
        const first = driven(config, seed, one).proposals().map(same);
        const second = driven(config, seed, other).proposals().map(same);
        const both = Math.min(first.length, second.length);
        expect(first.slice(0, both)).toEqual(second.slice(0, both));
      }),
    );
  });

  it("ignores repeated reports", () => {
    fc.assert(
      fc.property(searcher, seeds, steps, (config, seed, happening) => {
        const once = driven(config, seed, happening, { duplicates: false });
        expect(driven(config, seed, happening).events).toEqual(once.events);
      }),
    );
  });

  it("equals, at every point of its history, a replay from the start or from a snapshot", () => {
    fc.assert(
      fc.property(searcher, seeds, steps, fc.nat(), (config, seed, happening, cut) => {
        const live: string[] = [];
        const look = (search: DrivenSearch): void => {
          live[search.events.length] = encodeSearch(search.state);
        };
        const { events } = driven(config, seed, happening, { look });
        const { at, half, whole } = foldedInTwo(events, cut);
        expect(whole.snapshot()).toBe(live[events.length]);
        if (live[at] !== undefined) expect(half.snapshot()).toBe(live[at]);
      }),
    );
  });

  it("completes with the best finite value of its valid trials", () => {
    fc.assert(
      fc.property(searcher, seeds, steps, (config, seed, happening) => {
        const search = driven(config, seed, happening);
        for (let [trial] = unended(search); trial !== undefined; [trial] = unended(search)) {
          search.end(trial, TrialOutcome.COMPLETED);
        }
        const completion = search.completion();
        const invalid = new Set(
          search.events.flatMap((event) =>
            event.type === "TrialOutcomeRecorded" &&
            event.data.outcome === TrialOutcome.INVALID_HYPERPARAMETERS
              ? [event.data.trial]
              : [],
          ),
        );
        const values = search.events.flatMap((event) => {
          if (event.type !== "ObservationRecorded" || event.data.repeat) return [];
          const value = event.data.values["loss"] ?? Number.NaN;
          return invalid.has(event.data.trial) || !Number.isFinite(value) ? [] : [value];
        });
        const best =
          values.length === 0
            ? undefined
            : config.smaller_is_better
              ? Math.min(...values)
              : Math.max(...values);
        expect(completion?.bestValue).toBe(best);
        expect(
          proposalsOf(
            search.events.slice(
              search.events.findIndex((event) => event.type === "SearchCompleted"),
            ),
          ),
        ).toEqual([]);
      }),
    );
  });
});

describe("a search of 100,000 trials", () => {
  /** Runs a search to trial `ended`; returns the number of state values that the next 500 trials read. */
  function readsAt(ended: number): number {
    const search = new SearchMachine();
    let trial = 0;
    let reads = 0;
    let counts = false;
    const send = (command: SearchCommand): void => {
      const decided = search.decide(command) as readonly SearchEvent[];
      if (counts) reads += readsOf(search, command, decided);
      else for (const event of decided) search.apply(event);
      search.keep();
    };
    const endUpTo = (last: number): void => {
      while (trial < last) {
        trial += 1;
        send(validation(trial, 1, { loss: 1 / trial }));
        send({ type: "RecordOutcome", trial, outcome: TrialOutcome.COMPLETED });
      }
    };
    send({ type: "StartSearch", config: configOf(randomOf(110_000, 16)), seed: 1 });
    endUpTo(ended);
    counts = true;
    endUpTo(trial + 500);
    return reads;
  }

  it("reads about as much per event as a search of 1,000", () => {
    const [small, large] = [readsAt(1_000), readsAt(100_000)];
    expect(small).toBeGreaterThan(1_000);
    // The tree is one level deeper, while copying all trials at every event would read a hundred times as much.
    expect(large / small).toBeLessThan(8);
  });
});
