/** Properties of any list of policies, for any reports, in any order and with any repeats. */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { EarlyStoppingPolicy, SearcherConfig } from "@trainyard/experiment-config";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SearchMachine } from "../machine.ts";
import type { SearchEvent } from "../events.ts";
import { ashaOf } from "../testing/halving.ts";
import { replaySearch } from "../replay/replay.ts";
import { stored } from "../testing/recorded-search.ts";
import { encodeSearch } from "../snapshot.ts";
import { isRunning, trialOf } from "../state.ts";
import { configOf, DrivenSearch, randomOf, validation } from "../testing/searches.ts";
import {
  budget,
  courseOf,
  median,
  naiveComparison,
  noImprovement,
  notFinite,
  pbt,
  percentile,
  type Report,
  threshold,
} from "../testing/early-stopping.ts";

const TRIALS = 6;

const leaf = fc.oneof(
  fc.record({ min_trials: fc.integer({ min: 1, max: 4 }), grace: fc.nat({ max: 3 }) }).map(median),
  fc
    .tuple(fc.integer({ min: 1, max: 99 }), fc.nat({ max: 3 }))
    .map(([q, grace]) => percentile(q, { min_trials: 2, grace })),
  fc
    .tuple(fc.integer({ min: 1, max: 4 }), fc.nat({ max: 3 }))
    .map(([patience, grace]) => noImprovement(patience, { grace })),
  fc
    .integer({ min: 1, max: 4 })
    .map((patience_time) => noImprovement(1, { patience: null, patience_time, min_delta: 0.5 })),
  fc.constantFrom(pbt(), threshold(-1, 2, 2), notFinite),
);
const policy: fc.Arbitrary<EarlyStoppingPolicy> = fc.oneof(
  { arbitrary: leaf, weight: 6 },
  fc.array(leaf, { minLength: 1, maxLength: 2 }).map((all) => ({ all })),
  fc.array(leaf, { minLength: 1, maxLength: 2 }).map((any) => ({ any })),
  fc.constantFrom(
    budget({ max_trials: 4 }),
    budget({ max_wall_time: 30 }),
    budget({ max_slot_hours: 0.02 }),
  ),
);

const value = fc.oneof(
  fc.integer({ min: -1, max: 3 }),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
);
const step = fc.record({
  trial: fc.integer({ min: 1, max: TRIALS }),
  ahead: fc.oneof(fc.constant(1), fc.integer({ min: -2, max: 4 })),
  value,
  ends: fc.option(fc.constantFrom(TrialOutcome.COMPLETED, TrialOutcome.FAILED), { freq: 15 }),
  twice: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
const steps = fc.array(step, { maxLength: 60 });

const searchers = fc.constantFrom<SearcherConfig>(
  randomOf(TRIALS, 0),
  { ...randomOf(TRIALS, 3), smaller_is_better: false },
  ashaOf({ max_trials: TRIALS, max_concurrent_trials: 3, smaller_is_better: false }),
);

/** Runs the steps, one per second; `see` gets the state before a report and the events after it. */
function run(
  searcher: SearcherConfig,
  policies: EarlyStoppingPolicy[],
  script: readonly Step[],
  repeats: boolean,
  see: (
    reports: readonly Report[],
    report: Report,
    events: readonly SearchEvent[],
  ) => void = () => {},
): DrivenSearch {
  const search = new DrivenSearch();
  const config = configOf(searcher, undefined, policies);
  search.send({ type: "StartSearch", config, seed: 1, atMs: 0 });
  const reports: Report[] = [];
  for (const [n, { trial, ahead, value: loss, ends, twice }] of script.entries()) {
    const state = trialOf(search.state, trial);
    if (state === undefined || search.state.phase === "completed") continue;
    const atMs = n * 1_000;
    if (ends !== null) {
      search.send({ type: "RecordOutcome", trial, outcome: ends, atMs });
      search.send({ type: "RecordUsage", trial, run: 1, started: false, atMs });
      continue;
    }
    search.send({ type: "RecordUsage", trial, run: 1, started: true, atMs });
    const last = reports.findLast((report) => report.trial === trial)?.time ?? 0;
    const time = Math.max(1, last + ahead);
    const known = reports.some((report) => report.trial === trial && report.time === time);
    const report = validation(trial, time, { loss }, { measurement: `m-${n}`, atMs });
    if (known && !repeats) continue;
    const events = search.send(report);
    if (!known) see(reports, { trial, time, value: loss }, events);
    if (!known) reports.push({ trial, time, value: loss });
    if (twice && repeats) {
      expect(search.send(report)).toEqual([]);
      const again = search.send({ ...report, scalars: { loss: -9 }, measurement: `again-${n}` });
      expect(again.filter(({ type }) => type === "TrialStopDecided")).toEqual([]);
    }
  }
  return search;
}

const decisions = (events: readonly SearchEvent[]): readonly SearchEvent[] =>
  events.filter(({ type }) => !["ObservationRecorded", "RunUsageRecorded"].includes(type));

const lists = fc.array(policy, { minLength: 1, maxLength: 3 });

describe("early stopping", () => {
  it("stops each trial at most once, and none that has ended", () => {
    fc.assert(
      fc.property(searchers, lists, steps, (searcher, policies, script) => {
        const search = new SearchMachine();
        for (const event of run(searcher, policies, script, true).events) {
          if (event.type === "TrialStopDecided") {
            const trial = trialOf(search.state, event.data.trial);
            expect(trial?.outcome).toBe(TrialOutcome.UNSPECIFIED);
            expect(trial?.wanted).not.toBe("stopped");
          }
          search.apply(event);
        }
      }),
    );
  });

  it("ignores repeated reports", () => {
    fc.assert(
      fc.property(searchers, lists, steps, (searcher, policies, script) => {
        const [once, twice] = [false, true].map((repeats) =>
          run(searcher, policies, script, repeats),
        );
        const withoutVersions = (search: DrivenSearch | undefined) =>
          decisions(search?.events ?? []).map(({ type, data }) =>
            type === "TrialProposed" ? data.number : { type, data },
          );
        expect(withoutVersions(twice)).toEqual(withoutVersions(once));
      }),
    );
  });

  it("decides the same again, from its events and from any snapshot", () => {
    fc.assert(
      fc.property(searchers, lists, steps, fc.nat(), (searcher, policies, script, cut) => {
        const { events, state } = run(searcher, policies, script, true);
        const read = stored(events);
        expect(replaySearch(read).differences).toEqual([]);
        const at = cut % (events.length + 1);
        const prefix = SearchMachine.of(read.slice(0, at));
        const again = SearchMachine.restored(prefix.snapshot());
        for (const event of read.slice(at)) again?.apply(event);
        expect(again?.snapshot()).toBe(encodeSearch(state));
      }),
    );
  });

  it("compares like a reference implementation that reads all reports", () => {
    const compared = fc.tuple(fc.constantFrom(25, 50, 80), fc.nat({ max: 2 }), fc.boolean());
    fc.assert(
      fc.property(compared, steps, ([q, grace, smaller], script) => {
        const policies = [percentile(q, { min_trials: 2, grace })];
        const searcher = { ...randomOf(TRIALS, 0), smaller_is_better: smaller };
        const stopped = new Set<number>();
        const endless = script.map((one) => ({ ...one, ends: null }));
        run(searcher, policies, endless, true, (before, report, events) => {
          const { trial, time } = report;
          const stop = events.find((event) => event.type === "TrialStopDecided")?.data;
          const further = time > (courseOf(before, trial, smaller).at(-1)?.time ?? 0);
          const naive = naiveComparison([...before, report], TRIALS, trial, time, q, smaller);
          const worse = naive !== null && naive.others >= 2 && naive.best > naive.cutoff;
          expect(stop !== undefined).toBe(further && time >= grace && worse && !stopped.has(trial));
          if (stop === undefined || naive === null) return;
          stopped.add(trial);
          const shown = (ranked: number): number | null =>
            Number.isFinite(ranked) ? (smaller ? ranked : 0 - ranked) : null;
          expect(stop.evidence).toMatchObject({
            value: shown(naive.best),
            cutoff: shown(naive.cutoff),
            rank: naive.better + 1,
            of: naive.others + 1,
          });
        });
      }),
    );
  });

  it("never proposes more trials than the budget allows", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        searchers,
        steps,
        (max_trials, searcher, script) => {
          const search = run(searcher, [budget({ max_trials })], script, false);
          expect(search.proposals().length).toBeLessThanOrEqual(max_trials);
        },
      ),
    );
  });

  it("stops no trial without a configured policy", () => {
    fc.assert(
      fc.property(lists, steps, (policies, script) => {
        const search = run(randomOf(TRIALS, 0), policies, script, false);
        const named = search.events.flatMap((event) =>
          event.type === "TrialStopDecided" || event.type === "TrialOutcomeRecorded"
            ? [event.data.trial]
            : [],
        );
        for (const { number } of search.proposals()) {
          const trial = trialOf(search.state, number);
          expect(trial !== undefined && isRunning(trial)).toBe(!named.includes(number));
        }
      }),
    );
  });
});
