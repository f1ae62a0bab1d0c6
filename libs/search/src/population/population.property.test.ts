/** Properties of every population, for any order of reports and any repeats. */
import type { EventData } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import type { HyperparameterSpace, PbtSearcher } from "@trainyard/experiment-config";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldedInTwo } from "../testing/folded-in-two.ts";
import type { SearchEvent } from "../events.ts";
import { replaySearch } from "../replay/replay.ts";
import { encodeSearch } from "../snapshot.ts";
import { configOf, DrivenSearch } from "../testing/searches.ts";
import { quantileSize } from "./exploit.ts";
import type { Population } from "./state.ts";
import { pbtOf } from "../testing/population.ts";
import { bestOfToy } from "../testing/population-toy.ts";

const space: HyperparameterSpace = {
  lr: { type: "log", minval: -4, maxval: -1, base: 10, count: null },
  layers: { type: "int", minval: 1, maxval: 4, count: null },
  optimizer: { type: "categorical", vals: ["sgd", "adam"] },
};

const ends = [
  TrialOutcome.COMPLETED,
  TrialOutcome.CANCELED,
  TrialOutcome.FAILED,
  TrialOutcome.INVALID_HYPERPARAMETERS,
];

/** A random step: an open trial, and its next report, checkpoint or end. */
type Step = {
  readonly pick: number;
  readonly what: number;
  readonly ahead: number;
  readonly value: number;
  readonly twice: boolean;
};

const steps = fc.array(
  fc.record({
    pick: fc.nat(),
    // The numbers favour reports and checkpoints over ends.
    what: fc.nat({ max: 30 }),
    ahead: fc.integer({ min: 1, max: 5 }),
    value: fc.oneof(fc.double(), fc.integer({ min: 0, max: 5 })),
    twice: fc.boolean(),
  }),
  { maxLength: 80 },
);

const searcher: fc.Arbitrary<PbtSearcher> = fc
  .record({
    population_size: fc.integer({ min: 2, max: 6 }),
    more: fc.nat({ max: 20 }),
    interval: fc.integer({ min: 1, max: 6 }),
    burn_in: fc.nat({ max: 8 }),
    quantile: fc.constantFrom(0.2, 0.25, 0.5),
    max_concurrent_trials: fc.constantFrom(0, 0, 1, 2, 3),
    exploit: fc.constantFrom("truncation" as const, "tournament" as const),
    smaller_is_better: fc.boolean(),
  })
  .map(({ more, ...rest }) =>
    pbtOf({ ...rest, max_time: 30, max_trials: rest.population_size + more }),
  );

const seeds = fc.nat({ max: 0xffff_ffff });

type Look = (search: DrivenSearch, decided: readonly SearchEvent[], before: Population) => void;

/** Runs the steps; `look` gets the decisions of each step and the population before it. */
function driven(
  config: PbtSearcher,
  seed: number,
  happening: readonly Step[],
  { duplicates = true, look = (() => {}) as Look } = {},
): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf(config, space), seed);
  const reached = new Map<number, number>();
  for (const { pick, what, ahead, value, twice } of happening) {
    const running = unended(search);
    const proposal = running[pick % running.length];
    if (proposal === undefined) break;
    const { number: trial, startFromStep = 0 } = proposal;
    const step = (reached.get(trial) ?? startFromStep) + (what < 20 ? ahead : 0);
    reached.set(trial, step);
    for (let times = twice && duplicates ? 2 : 1; times > 0; times -= 1) {
      const before = populationOf(search);
      look(search, happened(search, trial, what, step, value), before);
    }
  }
  return search;
}

function happened(
  search: DrivenSearch,
  trial: number,
  what: number,
  step: number,
  value: number,
): readonly SearchEvent[] {
  if (what < 20) return search.validate(trial, step, value);
  const end = ends[what - 27];
  if (end !== undefined) return search.end(trial, end);
  const checkpoint = `${trial}@${step}`;
  return search.send({ type: "RecordCheckpoint", trial, checkpoint, run: 1, step });
}

const populationOf = (search: DrivenSearch): Population =>
  search.state.memory as unknown as Population;

function unended(search: DrivenSearch): readonly EventData<"TrialProposed">[] {
  const ended = new Set(
    search.events.flatMap((event) =>
      event.type === "TrialOutcomeRecorded" ? [event.data.trial] : [],
    ),
  );
  return search.proposals().filter(({ number }) => !ended.has(number));
}

describe("every population", () => {
  it("respects its size, its concurrency and its number of trials", () => {
    fc.assert(
      fc.property(searcher, seeds, steps, (config, seed, happening) => {
        const look: Look = (search) => {
          const { members } = populationOf(search);
          expect(members.length).toBeLessThanOrEqual(config.population_size);
          const most = config.max_concurrent_trials || config.population_size;
          const training = members.filter(({ waiting }) => !waiting).length;
          expect(training).toBeLessThanOrEqual(most);
          // No member waits while none trains.
          if (training === 0) expect(members).toEqual([]);
          expect(populationOf(search).vacant).toBeGreaterThanOrEqual(0);
          expect(search.proposals().length).toBeLessThanOrEqual(config.max_trials);
        };
        driven(config, seed, happening, { look });
      }),
    );
  });

  it("copies only better members with a checkpoint, by truncation only from the upper quantile", () => {
    fc.assert(
      fc.property(searcher, seeds, steps, (config, seed, happening) => {
        const look: Look = (_, decided, before) => {
          for (const [i, event] of decided.entries()) {
            if (event.type !== "TrialStopDecided" || event.data.rule !== "pbt_exploit") continue;
            const evidence = event.data.evidence as Record<string, number>;
            const copy = decided[i + 1];
            if (copy?.type !== "TrialProposed") throw new Error("a copy continues in its place");
            const donor = before.members.find(({ trial }) => trial === copy.data.startFromTrial);
            expect(donor?.saved?.checkpoint).toBe(copy.data.startFromCheckpoint);
            expect(donor?.saved?.time).toBeLessThan(config.max_time);
            expect(evidence["donor_rank"]).toBeLessThan(evidence["rank"] ?? 0);
            if (config.exploit === "tournament") continue;
            const places = evidence["places"] ?? 0;
            expect(places).toBe(before.members.length + before.vacant);
            const upper = quantileSize(places, config.quantile);
            expect(evidence["donor_rank"]).toBeLessThanOrEqual(upper);
            expect(evidence["rank"]).toBeGreaterThan(places - upper);
          }
        };
        driven(config, seed, happening, { look });
      }),
    );
  });

  it("keeps every hyperparameter within its bounds", () => {
    fc.assert(
      fc.property(searcher, seeds, steps, (config, seed, happening) => {
        for (const { hyperparameters } of driven(config, seed, happening).proposals()) {
          const { lr, layers, optimizer } = hyperparameters as Record<string, number>;
          expect(lr).toBeGreaterThanOrEqual(1e-4);
          expect(lr).toBeLessThanOrEqual(0.1);
          expect([1, 2, 3, 4]).toContain(layers);
          expect(["sgd", "adam"]).toContain(optimizer);
        }
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

  it("equals a replay from any prefix, which decides the inputs the same", () => {
    fc.assert(
      fc.property(searcher, seeds, steps, fc.nat(), (config, seed, happening, cut) => {
        const search = driven(config, seed, happening);
        const { stored, whole } = foldedInTwo(search.events, cut);
        expect(whole.snapshot()).toBe(encodeSearch(search.state));
        expect(replaySearch(stored).differences).toEqual([]);
      }),
    );
  });
});

it("two members that each ignore one weight reach 1.19 of 1.2 together, for every seed", () => {
  const bests = Array.from({ length: 20 }, (_, i) => bestOfToy(i + 1));
  expect(Math.min(...bests)).toBeGreaterThanOrEqual(1.19);
});
