import { draw } from "@trainyard/kernel";
import { describe, expect, it } from "vitest";
import { SearchMachine } from "../machine.ts";
import { runSearch } from "../simulation/run.ts";
import { encodeSearch } from "../snapshot.ts";
import { configOf } from "../testing/searches.ts";
import type { Halving } from "./state.ts";
import { autoOf, halvingOf, startedSearch } from "../testing/halving.ts";
import {
  answerOf,
  type Probe,
  probeRung,
  asksMore,
  extremes,
  maySeeLater,
  rankCorrelation,
  trustAt,
  type Trust,
  type TrustPlan,
  withBrought,
  withoutAnswerOf,
} from "./first-rung.ts";

const plan: TrustPlan = {
  levels: [
    { asked: 3, trusted: 0.9, doubted: 0 },
    { asked: 5, trusted: 0.4, doubted: 0.4 },
  ],
  later: 4,
  laterThreshold: 0,
  laterShare: 1 / 3,
};

describe("the rank correlation", () => {
  it.each([
    [
      [
        [1, 10],
        [2, 20],
        [3, 30],
      ],
      1,
    ],
    [
      [
        [1, 30],
        [2, 20],
        [3, 10],
      ],
      -1,
    ],
    [
      [
        [1, 10],
        [2, 30],
        [3, 20],
      ],
      0.5,
    ],
    [
      [
        [1, 10],
        [1, 20],
        [1, 30],
      ],
      0,
    ],
    [
      [
        [1, 10],
        [1, 10],
        [2, 20],
      ],
      1,
    ],
    [[], 0],
  ] as const)("of the values %j is %d", (pairs, expected) => {
    expect(rankCorrelation(pairs)).toBeCloseTo(expected, 12);
  });
});

describe("the probes of the first rung", () => {
  const brought = (...values: readonly (readonly number[])[]): readonly Probe[] =>
    values.map((some, i) => ({ trial: i + 1, brought: some }));
  const asking = (asked: readonly Probe[], more: Partial<Trust> = {}): Trust => ({
    ...trustAt(plan, 0, 4, asked),
    ...more,
  });
  const agreed = brought([1, 1], [2, 2], [3, 3]);

  it("are its first trials, but only if at least two rungs are above it", () => {
    expect(asksMore(plan, asking(agreed.slice(1)))).toBe(true);
    expect(asksMore(plan, asking(agreed))).toBe(false);
    expect(asksMore(plan, trustAt(plan, 2, 4))).toBe(false);
    expect(trustAt(undefined, 0, 4).question).toBe("none");
  });

  it("are few if the correlation is clear, and the last level decides in any case", () => {
    expect(answerOf(plan, asking(agreed))).toBe("trusted");
    expect(answerOf(plan, asking(brought([1, 3], [2, 2], [3, 1])))).toBe("rises");
    const unclear = brought([1, 1], [2, 3], [3, 2]);
    expect(answerOf(plan, asking(unclear))).toBe("asks_more");
    const all = [...unclear, ...brought([4, 5], [5, 4])];
    expect(answerOf(plan, asking(all, { level: 1 }))).toBe("trusted");
    const bent = [...unclear, ...brought([4, 0], [5, 1])];
    expect(answerOf(plan, asking(bent, { level: 1 }))).toBe("rises");
  });

  it("decide nothing until every probe has reported", () => {
    expect(answerOf(plan, asking(brought([1, 1], [2, 2], [3])))).toBe("waits");
    expect(answerOf(plan, asking(agreed.slice(1)))).toBe("waits");
  });

  it("continue to the rung after the next for the best and the worst, if it is cheap and not the last", () => {
    expect(maySeeLater(plan, 0, [1, 3, 9, 27])).toBe(true);
    expect(maySeeLater(plan, 0, [1, 3, 9, 20])).toBe(false);
    expect(maySeeLater(plan, 0, [1, 3, 9])).toBe(false);
    expect(extremes(brought([5], [1], [4], [2], [3], [6]), 4)).toEqual([2, 4, 1, 6]);
    expect(extremes(agreed, 4)).toEqual([]);
    const later = { question: "later", later: [1, 2, 3] } as const;
    const against = asking(brought([1, 1, 9], [2, 2, 5], [3, 3, 1]), later);
    expect(answerOf(plan, against)).toBe("rises");
    expect(answerOf(plan, { ...against, later: [] })).toBe("waits");
    expect(answerOf(plan, asking(brought([1, 1, 1], [2, 2, 5], [3, 3, 9]), later))).toBe("trusted");
    expect(answerOf(plan, asking(brought([1, 1, 1], [2, 2, 5], [3, 3]), later))).toBe("waits");
  });

  it("measure each trial once", () => {
    const trust = asking(brought([1], [2, 2]));
    expect(probeRung(trust, 1)).toBe(1);
    expect(probeRung(withBrought(trust, 1, 7), 1)).toBeUndefined();
    expect(probeRung(trust, 2)).toBeUndefined();
    expect(probeRung(trust, 3)).toBeUndefined();
    const later = asking(brought([1, 1], [2, 2]), { question: "later", later: [2] });
    expect([1, 2].map((trial) => probeRung(later, trial))).toEqual([undefined, 2]);
  });

  it("are replaced, or dropped for the later rung, if they will not report again", () => {
    const trust = asking(brought([1], [2, 2]), { owed: [1] });
    expect(withoutAnswerOf(trust, 1)).toMatchObject({ owed: [], asked: [{ trial: 2 }] });
    expect(withoutAnswerOf(trust, 2).asked).toHaveLength(2);
    expect(withoutAnswerOf(trust, 3)).toBe(trust);
    const later = asking(brought([1, 1], [2, 2]), { question: "later", later: [2], owed: [2] });
    expect(withoutAnswerOf(later, 1).question).toBe("later");
    expect(withoutAnswerOf(later, 2)).toMatchObject({ question: "none", owed: [] });
  });
});

/**
 * Simulates a search by `auto` whose trials have random final values; `early` turns a final value into that of the
 * first steps.
 */
function simulated(early: (final: number) => number, seed = 1, misleading = 2, trials = 120) {
  const final = (trial: number): number => draw(seed, "final", trial);
  return runSearch({
    config: configOf(autoOf({ max_trials: trials, max_time: 27, max_concurrent_trials: 24 })),
    seed,
    workers: 24,
    world: ({ number, hyperparameters = {} }) => ({
      hyperparameters,
      steps: 27,
      stepTime: 1,
      valueAt: (step) => (step <= misleading ? early(final(number)) : final(number) + 1 / step),
    }),
  });
}

describe("a search whose first rung is measured", () => {
  it("keeps its first rung if early values predict later ones", () => {
    const { events, state } = simulated((final) => final);
    expect((state.memory as unknown as Halving).trust).toMatchObject({ first: 0 });
    expect(events.some(({ data }) => "rule" in data && data.rule === "rung_not_trusted")).toBe(
      false,
    );
    const evidence = events.flatMap((event) =>
      event.type === "TrialResumed" ? [event.data.evidence] : [],
    );
    expect(evidence.at(-1)).toMatchObject({ first_rung: 1, trust: 1 });
  });

  it("raises its first rung if early values mislead, and records the reason", () => {
    const { events, state, steps } = simulated((final) => -final);
    const { trust } = state.memory as unknown as Halving;
    expect(trust.first).toBe(1);
    const rise = events.findIndex(
      ({ type, data }) => type === "TrialStopDecided" && data.rule === "rung_not_trusted",
    );
    expect(rise).toBeGreaterThan(0);
    for (const { type, data } of events.slice(rise)) {
      if (type === "TrialSuspended" || type === "TrialResumed") {
        expect(data.evidence).toMatchObject({ first_rung: 3 });
        expect(data.rung).toBeGreaterThan(0);
      }
    }
    // A trial that starts after the rise trains to the new first rung.
    const last = steps.filter(({ trial }) => trial === state.trials.length);
    expect(last.length).toBeGreaterThanOrEqual(3);
    expect(state.phase).toBe("completed");
  });

  it("raises its first rung if the first two rungs agree but both mislead", () => {
    const { state } = simulated((final) => -final, 1, 4);
    expect((state.memory as unknown as Halving).trust.first).toBeGreaterThan(0);
  });

  it("measures the later rung once it costs at most a twelfth of the training so far", () => {
    const { events } = simulated((final) => final, 1, 2, 240);
    const isLater = (event: (typeof events)[number]): boolean =>
      event.type === "TrialResumed" && event.data.rule === "probe" && event.data.target === 9;
    const first = events.findIndex(isLater);
    expect(first).toBeGreaterThan(0);
    const reached = new Map<number, number>();
    for (const event of events.slice(0, first)) {
      if (event.type === "ObservationRecorded") reached.set(event.data.trial, event.data.time);
    }
    const spent = [...reached.values()].reduce((sum, time) => sum + time, 0);
    expect(12 * events.filter(isLater).length * (9 - 3)).toBeLessThanOrEqual(spent);
  });

  it("has few probes, which count at no higher rung unless they are promoted", () => {
    const { events, state } = simulated((final) => final);
    const { brackets, places } = state.memory as unknown as Halving;
    const probes = events.flatMap((event) =>
      event.type === "TrialResumed" && event.data.rule === "probe" ? [event.data] : [],
    );
    expect(probes.length).toBeGreaterThan(2);
    expect(probes.length).toBeLessThan(12);
    const promoted = new Set(
      events.flatMap((event) =>
        event.type === "TrialResumed" && event.data.rule !== "probe" ? [event.data.trial] : [],
      ),
    );
    expect(brackets[0]?.rungs[1]?.all.size).toBe(promoted.size);
    expect(probes.some(({ trial }) => !promoted.has(trial))).toBe(true);
    expect(places.length).toBe(120);
  });

  it("uses a promoted probe's known value at the next rung at once", () => {
    const search = startedSearch(
      autoOf({ max_trials: 60, max_time: 27, max_concurrent_trials: 5 }),
    );
    for (const [i, value] of [5, 4, 3, 2, 1].entries()) search.validate(i + 1, 1, value);
    // Trials 1 and 2 reach the rung first, so they continue as probes; the others are promoted.
    const rules = (trial: number) =>
      search.events.flatMap((event) =>
        event.type === "TrialResumed" && event.data.trial === trial ? [event.data.rule] : [],
      );
    expect([1, 2, 3, 4, 5].map(rules)).toEqual([
      ["probe"],
      ["probe"],
      ["halving"],
      ["halving"],
      ["halving"],
    ]);
    const { brackets, trust } = halvingOf(search);
    expect(brackets[0]?.rungs[0]?.coming).toBe(2);
    expect(trust.asked).toHaveLength(5);
  });

  it("promotes the trial with the best value so far, however few have reached its rung", () => {
    const search = startedSearch(autoOf({ max_trials: 9, max_time: 27, max_concurrent_trials: 3 }));
    for (const trial of [1, 2]) search.validate(trial, 1, 5);
    search.validate(3, 1, 4);
    const events = search.validate(3, 3, 3);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "TrialResumed",
        data: expect.objectContaining({ trial: 3, target: 9, rule: "best_so_far" }),
      }),
    );
  });

  it("equals a replay of its events, also from a snapshot", () => {
    const { events, state } = simulated((final) => -final, 2);
    expect(SearchMachine.of(events).snapshot()).toBe(encodeSearch(state));
    const half = SearchMachine.of(events.slice(0, 200));
    const restored = SearchMachine.restored(half.snapshot());
    for (const event of events.slice(200)) restored?.apply(event);
    expect(restored?.snapshot()).toBe(encodeSearch(state));
  });
});
