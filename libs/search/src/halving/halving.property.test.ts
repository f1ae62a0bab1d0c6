/** Properties of every halving search, for any reports, in any order and with any repeats. */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { HalvingSearcher } from "@trainyard/experiment-config";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldedInTwo } from "../testing/folded-in-two.ts";
import type { SearchEvent } from "../events.ts";
import { encodeSearch } from "../snapshot.ts";
import { type DrivenSearch, validation } from "../testing/searches.ts";
import { activeTrials } from "./brackets.ts";
import { placeOfTrial, rungOf } from "./state.ts";
import {
  adaptiveOf,
  ashaOf,
  asyncHalvingOf,
  autoOf,
  bohbOf,
  halvingOf,
  hyperbandOf,
  startedSearch,
} from "../testing/halving.ts";

type Step = {
  readonly pick: number;
  /** Reports at `ahead` after the trial's last time if `outcome` is null; ends the trial otherwise. */
  readonly outcome: TrialOutcome | null;
  readonly ahead: number;
  readonly value: number;
  readonly twice: boolean;
};

const outcome = fc.option(
  fc.constantFrom(
    TrialOutcome.COMPLETED,
    TrialOutcome.FAILED,
    TrialOutcome.CANCELED,
    TrialOutcome.INVALID_HYPERPARAMETERS,
  ),
  { freq: 12 },
);

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    pick: fc.nat(),
    outcome,
    ahead: fc.integer({ min: -1, max: 9 }),
    value: fc.oneof(fc.double(), fc.integer({ min: 0, max: 3 })),
    twice: fc.boolean(),
  }),
  { maxLength: 120 },
);

const common = fc.record({
  max_trials: fc.integer({ min: 1, max: 30 }),
  max_concurrent_trials: fc.nat({ max: 6 }),
  divisor: fc.constantFrom(2, 3, 4),
  smaller_is_better: fc.boolean(),
});

const searcher: fc.Arbitrary<HalvingSearcher> = fc
  .tuple(common, fc.boolean(), fc.nat({ max: 5 }))
  .map(([shared, resume, which]): HalvingSearcher => {
    if (which === 0) return ashaOf({ ...shared, resume });
    if (which === 1) return asyncHalvingOf({ ...shared, resume });
    if (which === 2) return adaptiveOf({ ...shared, resume, mode: "conservative" });
    // With more trials the first rung is measured and can rise.
    if (which === 3)
      return bohbOf({ ...shared, resume, max_trials: shared.max_trials + 30, max_time: 27 });
    if (which === 4) return autoOf({ ...shared, max_trials: shared.max_trials + 30, max_time: 27 });
    return hyperbandOf(shared);
  });

const seeds = fc.nat({ max: 0xffff_ffff });

function unended(search: DrivenSearch): number[] {
  return search
    .proposals()
    .map(({ number }) => number)
    .filter((number) => !ended(search, number));
}

function ended({ events }: DrivenSearch, trial: number): boolean {
  return events.some(({ type, data }) => type === "TrialOutcomeRecorded" && data.trial === trial);
}

const ignored: (search: DrivenSearch, events: readonly SearchEvent[]) => void = () => {};

function driven(
  config: HalvingSearcher,
  seed: number,
  happening: readonly Step[],
  { duplicates = true, look = ignored } = {},
): DrivenSearch {
  const search = startedSearch(config, seed);
  look(search, search.events.slice());
  const times = new Map<number, number>();
  for (const { pick, outcome: ending, ahead, value, twice } of happening) {
    const candidates = unended(search);
    const trial = candidates[pick % Math.max(1, candidates.length)];
    if (trial === undefined) break;
    const time = (times.get(trial) ?? 0) + ahead;
    times.set(trial, Math.max(time, times.get(trial) ?? 0));
    const report = validation(trial, time, { loss: value }, { measurement: `${trial} ${pick}` });
    for (let left = twice && duplicates ? 2 : 1; left > 0; left -= 1) {
      const events = ending === null ? search.send(report) : search.end(trial, ending);
      look(search, events);
    }
  }
  return search;
}

describe("every search that halves", () => {
  it("respects its limits of trials and of concurrency", () => {
    fc.assert(
      fc.property(searcher, seeds, steps, (config, seed, happening) => {
        driven(config, seed, happening, {
          look: (search) => {
            const halving = halvingOf(search);
            const budget = search.state.plan?.trialsMax ?? 0;
            const { invalid } = search.state.outcomes;
            expect(search.proposals().length).toBeLessThanOrEqual(budget + invalid);
            expect(activeTrials(halving)).toBeLessThanOrEqual(halving.plan.concurrent);
            const training = unended(search).filter((trial) =>
              ["coming", "due", "probing"].includes(placeOfTrial(halving, trial).state),
            );
            expect(activeTrials(halving)).toBe(training.length);
            for (const [index, { rungs }] of halving.brackets.entries()) {
              for (const rung of rungs.keys()) {
                const coming = training.filter((trial) => {
                  const place = placeOfTrial(halving, trial);
                  return place.bracket === index && place.rung === rung;
                });
                expect(rungOf(halving, index, rung).coming).toBe(coming.length);
              }
            }
          },
        });
      }),
      { numRuns: 60 },
    );
  });

  it("promotes only trials in the top 1/η of their rung, the best of a closed rung, and probes", () => {
    fc.assert(
      fc.property(searcher, seeds, steps, (config, seed, happening) => {
        for (const event of driven(config, seed, happening).events) {
          if (event.type !== "TrialResumed") continue;
          const { rank, of, value } = event.data.evidence as Record<string, number>;
          const probe = event.data.rule === "probe";
          if (probe) expect(["auto", "bohb"]).toContain(config.name);
          else
            expect(rank).toBeLessThanOrEqual(Math.max(1, Math.floor((of ?? 0) / config.divisor)));
          expect(Number.isFinite(value)).toBe(true);
        }
      }),
    );
  });

  it("ignores repeated reports", () => {
    fc.assert(
      fc.property(searcher, seeds, steps, (config, seed, happening) => {
        const once = driven(config, seed, happening, { duplicates: false });
        const decisions = (search: DrivenSearch): SearchEvent[] =>
          search.events.filter(
            (event) => event.type !== "ObservationRecorded" || !event.data.repeat,
          );
        // The version of a proposal also counts recorded repeats, so it is not compared.
        const shown = (search: DrivenSearch): unknown[] =>
          decisions(search).map(({ type, data }) => ({
            type,
            data: { ...data, searchVersion: 0 },
          }));
        expect(shown(driven(config, seed, happening))).toEqual(shown(once));
      }),
    );
  });

  it("equals, from any prefix of its events, the state at that time", () => {
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

  it("completes if every trial keeps reporting", () => {
    fc.assert(
      fc.property(searcher, seeds, steps, (config, seed, happening) => {
        const search = driven(config, seed, happening);
        let time = 1_000;
        for (let rounds = 0; search.completion() === undefined; rounds += 1) {
          expect(rounds).toBeLessThan(1_000);
          time += 9;
          for (const trial of unended(search)) {
            const { wanted } = trialWanted(search, trial);
            if (wanted === "run") search.validate(trial, time, trial);
            if (trialWanted(search, trial).wanted === "stopped") {
              search.end(trial, TrialOutcome.STOPPED_EARLY);
            }
          }
        }
        expect(unended(search)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

function trialWanted(search: DrivenSearch, trial: number): { readonly wanted: string } {
  const { state } = placeOfTrial(halvingOf(search), trial);
  return { wanted: state === "over" ? "stopped" : state === "waiting" ? "suspended" : "run" };
}
