import { draw, fold } from "@trainyard/kernel";
import { describe, expect, it } from "vitest";
import { searchDecider } from "../decider.ts";
import { runSearch } from "../simulation/run.ts";
import { decodeSearch, encodeSearch } from "../snapshot.ts";
import { configOf } from "../testing/test-searches.ts";
import type { Halving } from "./memory.ts";
import { autoOf } from "./test-halving.ts";
import {
  asksLater,
  type Correlation,
  correlationOf,
  fullTrust,
  isProbe,
  type Measured,
  rankCorrelation,
  rises,
  type TrustPlan,
  withMeasured,
} from "./trust.ts";

const plan: TrustPlan = {
  probesFirst: 4,
  probeEvery: 10,
  measuredMin: 3,
  measuredMax: 6,
  threshold: 0.4,
  laterProbes: 3,
  laterMin: 3,
  laterThreshold: 0.2,
  laterShare: 1 / 3,
  probesAfterRise: 2,
};

describe("the rank correlation of a rung with the next", () => {
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
  ] as const)("of %j is %d", (pairs, expected) => {
    expect(rankCorrelation(pairs)).toBeCloseTo(expected, 12);
  });

  it("is asked of the first trials and then of one in ten, by their numbers alone", () => {
    const probes = Array.from({ length: 30 }, (_, i) => i + 1).filter((trial) =>
      isProbe(plan, trial),
    );
    expect(probes).toEqual([1, 2, 3, 4, 10, 20, 30]);
  });

  const of = (...measured: Measured[]): Correlation => correlationOf(measured);
  const against = of([1, 3], [2, 2], [3, 1]);

  it("makes the first rung rise when it is low and enough was measured, as long as two rungs are left", () => {
    expect(against.value).toBe(-1);
    expect(rises(plan, { ...fullTrust, next: against }, 3)).toBe(true);
    expect(rises(plan, { ...fullTrust, next: against }, 2)).toBe(false);
    expect(rises(plan, { ...fullTrust, next: of([1, 3], [2, 2]) }, 3)).toBe(false);
    expect(rises(plan, { ...fullTrust, next: of([1, 1], [2, 3], [3, 2]) }, 3)).toBe(false);
  });

  it("does so too when the rung after the next says the opposite", () => {
    const agreed = of([1, 1], [2, 2], [3, 3]);
    expect(rises(plan, { ...fullTrust, next: agreed, later: against }, 4)).toBe(true);
    expect(rises(plan, { ...fullTrust, next: agreed, later: agreed }, 4)).toBe(false);
  });

  it("asks the rung after the next when the next one has told, if that is cheap and not the last", () => {
    const told = { ...fullTrust, next: of([1, 1], [2, 2], [3, 3]) };
    expect(asksLater(plan, told, [1, 3, 9, 27])).toBe(true);
    expect(asksLater(plan, told, [1, 3, 9, 20])).toBe(false);
    expect(asksLater(plan, told, [1, 3, 9])).toBe(false);
    expect(asksLater(plan, fullTrust, [1, 3, 9, 27])).toBe(false);
    expect(asksLater(plan, { ...told, laterProbes: [1] }, [1, 3, 9, 27])).toBe(false);
  });

  it("is settled when enough have been measured", () => {
    let correlation = of();
    for (let i = 0; i < 10; i += 1) correlation = withMeasured(plan, correlation, [i, i]);
    expect(correlation.measured).toHaveLength(plan.measuredMax);
  });
});

/** A search by `auto` over trials whose final values chance gives; `early` makes of it what the first two steps show. */
function simulated(early: (final: number) => number, seed = 1, misleading = 2) {
  const final = (trial: number): number => draw(seed, "final", trial);
  return runSearch({
    config: configOf(autoOf({ max_trials: 120, max_time: 27, max_concurrent_trials: 24 })),
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
  it("keeps it when early values tell later ones", () => {
    const { events, state } = simulated((final) => final);
    expect((state.memory as unknown as Halving).trust).toMatchObject({
      first: 0,
      next: { value: 1 },
    });
    expect(events.some(({ data }) => "rule" in data && data.rule === "rung_not_trusted")).toBe(
      false,
    );
    const evidence = events.flatMap((event) =>
      event.type === "TrialResumed" ? [event.data.evidence] : [],
    );
    expect(evidence.at(-1)).toMatchObject({ first_rung: 1, trust: 1 });
  });

  it("compares trials at the next one when early values mislead, and says why", () => {
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
    // What trains after the rise comes to the new first rung.
    const last = steps.filter(({ trial }) => trial === state.trials.size);
    expect(last.length).toBeGreaterThanOrEqual(3);
    expect(state.phase).toBe("completed");
  });

  it("rises also where the first two rungs agree with each other and mislead together", () => {
    const { state } = simulated((final) => -final, 1, 4);
    expect((state.memory as unknown as Halving).trust.first).toBeGreaterThan(0);
  });

  it("has probes go on from the first rung whatever their value", () => {
    const { events } = simulated((final) => final);
    const probes = events.filter(
      ({ type, data }) => type === "TrialResumed" && data.rule === "probe",
    );
    expect(probes.length).toBeGreaterThan(5);
  });

  it("is the same from its events as it was", () => {
    const { events, state } = simulated((final) => -final, 2);
    const again = fold(searchDecider.evolve, searchDecider.initial, events);
    expect(encodeSearch(again)).toBe(encodeSearch(state));
    const half = fold(searchDecider.evolve, searchDecider.initial, events.slice(0, 200));
    const restored = decodeSearch(encodeSearch(half)) ?? searchDecider.initial;
    expect(encodeSearch(fold(searchDecider.evolve, restored, events.slice(200)))).toBe(
      encodeSearch(state),
    );
  });
});
