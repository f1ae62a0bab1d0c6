/** Examples of each policy: which trials it stops, which continue, and its evidence. */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { EarlyStoppingPolicy } from "@trainyard/experiment-config";
import { describe, expect, it } from "vitest";
import type { SearchEvent } from "../events.ts";
import { ashaOf, shortly, startedSearch } from "../testing/halving.ts";
import { configOf, DrivenSearch, validation } from "../testing/searches.ts";
import { pbtOf } from "../testing/population.ts";
import {
  budget,
  median,
  noImprovement,
  notFinite,
  pbt,
  percentile,
  stoppingSearch,
  threshold,
} from "../testing/early-stopping.ts";

const stopIn = (events: readonly SearchEvent[]) =>
  events.find((event) => event.type === "TrialStopDecided")?.data;

/** Reports a trial's values at times 1, 2, 3, …; returns the time at which the trial was stopped, 0 for never. */
function stoppedAt(
  policies: EarlyStoppingPolicy[],
  values: readonly number[],
  more: object = {},
): number {
  const search = stoppingSearch(policies, 1, more);
  return values.findIndex((value, i) => stopIn(search.validate(1, i + 1, value))) + 1;
}

describe("no_improvement", () => {
  it.each<[string, EarlyStoppingPolicy, number[], number]>([
    ["waits for its patience", noImprovement(2), [0.5, 0.6, 0.5], 3],
    ["resets its patience with each improvement", noImprovement(2), [0.5, 0.6, 0.4, 0.6, 0.4], 5],
    [
      "requires an improvement by more than min_delta",
      noImprovement(2, { min_delta: 0.1 }),
      [1, 0.95, 0.92],
      3,
    ],
    [
      "counts exactly min_delta as no improvement",
      noImprovement(1, { min_delta: 0.5 }),
      [1, 0.5],
      2,
    ],
    [
      "takes min_delta_relative relative to the best value",
      noImprovement(2, { min_delta_relative: 0.5 }),
      [1, 0.6, 0.6],
      3,
    ],
    [
      "lets a trial with a sufficient improvement continue",
      noImprovement(1, { min_delta_relative: 0.5 }),
      [1, 0.4],
      0,
    ],
    [
      "counts reports from the end of the grace",
      noImprovement(2, { grace: 3 }),
      [0.5, 0.6, 0.6, 0.6],
      4,
    ],
    [
      "compares with the best value of the grace, too",
      noImprovement(1, { grace: 3 }),
      [0.1, 0.6, 0.5],
      3,
    ],
    [
      "counts a value that is not finite as no improvement",
      noImprovement(2),
      [0.5, NaN, -Infinity],
      3,
    ],
    ["stops a trial without any finite value", noImprovement(2), [NaN, NaN, 0.5], 2],
    [
      "counts time with patience_time",
      noImprovement(0, { patience: null, patience_time: 2 }),
      [0.5, 0.6, 0.6, 0.6],
      3,
    ],
  ])("%s", (_, policy, values, expected) => {
    expect(stoppedAt([policy], values)).toBe(expected);
    const mirrored = values.map((value) => -value);
    expect(stoppedAt([policy], mirrored, { smaller_is_better: false })).toBe(expected);
  });

  it("has evidence with the waited reports and the best value", () => {
    const search = stoppingSearch([noImprovement(2, { min_delta: 0.1 })], 1);
    search.validate(1, 10, 0.5);
    search.validate(1, 20, 0.45);
    expect(stopIn(search.validate(1, 30, 0.6))).toEqual({
      trial: 1,
      rule: "no_improvement",
      evidence: {
        value: 0.6,
        time: 30,
        best: 0.5,
        best_at: 10,
        waited: 2,
        patience: 2,
        min_delta: 0.1,
      },
    });
  });
});

describe("the policies threshold and not_finite", () => {
  it.each<[string, EarlyStoppingPolicy, number[], number]>([
    ["stop a trial above the upper threshold", threshold(null, 1), [1, 1.1], 2],
    [
      "stop a trial below the lower threshold, whatever the direction",
      threshold(0.5, null),
      [0.5, 0.4],
      2,
    ],
    ["wait until the end of the grace", threshold(null, 1, 3), [2, 2, 2], 3],
    ["stop a trial whose value is not finite", threshold(null, 1), [0.5, -Infinity], 2],
    ["stop a trial at NaN by not_finite", notFinite, [1e300, NaN], 2],
  ])("%s", (_, policy, values, expected) => {
    expect(stoppedAt([policy], values)).toBe(expected);
  });

  it("record a value that is not finite as text", () => {
    const search = stoppingSearch([notFinite], 1);
    expect(stopIn(search.validate(1, 3, Number.NaN))).toEqual({
      trial: 1,
      rule: "not_finite",
      evidence: { value: "NaN", time: 3 },
    });
  });
});

describe("median and percentile", () => {
  /** Returns a search in which each trial has reported its value at times 1 and 2. */
  function compared(policy: EarlyStoppingPolicy, values: readonly number[]): DrivenSearch {
    const search = stoppingSearch([policy], values.length + 1);
    for (const time of [1, 2]) {
      for (const [i, value] of values.entries()) search.validate(i + 1, time, value);
    }
    return search;
  }

  it("stop a trial whose best value is worse than the median of the others' averages", () => {
    const search = compared(median(), [0.1, 0.2, 0.3]);
    expect(stopIn(search.validate(4, 2, 0.25))).toEqual({
      trial: 4,
      rule: "median",
      evidence: {
        value: 0.25,
        time: 2,
        compared_at: 2,
        percentile: 50,
        cutoff: 0.2,
        rank: 3,
        of: 4,
        competitors: [
          { trial: 1, average: 0.1 },
          { trial: 2, average: 0.2 },
          { trial: 3, average: 0.3 },
        ],
      },
    });
  });

  it("let a trial continue whose best value equals the cutoff, even if later values are worse", () => {
    const search = compared(median(), [0.1, 0.2, 0.3]);
    search.validate(4, 1, 0.2);
    expect(stopIn(search.validate(4, 2, 0.9))).toBeUndefined();
  });

  it("wait for the end of the grace and for min_trials others at the same time", () => {
    expect(stopIn(compared(median({ grace: 3 }), [1, 2, 3]).validate(4, 2, 9))).toBeUndefined();
    const search = compared(median({ min_trials: 4 }), [0.1, 0.2, 0.3]);
    expect(stopIn(search.validate(4, 2, 9))).toBeUndefined();
    const early = compared(median(), [0.1, 0.2, 0.3]);
    expect(stopIn(early.validate(4, 3, 9))).toBeUndefined();
  });

  it("rank a value that is not finite as the worst", () => {
    const search = compared(median(), [NaN, NaN, 0.3]);
    expect(stopIn(search.validate(4, 2, 1e9))).toBeUndefined();
    const other = compared(median(), [NaN, 0.2, 0.3]);
    expect(stopIn(other.validate(4, 2, Number.NaN))).toMatchObject({ evidence: { value: null } });
  });

  it("keep the best q percent of the trials", () => {
    const values = [0.1, 0.2, 0.3, 0.4, 0.5];
    const evidence = { cutoff: 0.2, percentile: 25, rank: 3, of: 6 };
    expect(stopIn(compared(percentile(25), values).validate(6, 2, 0.25))).toMatchObject({
      rule: "percentile",
      evidence,
    });
    expect(stopIn(compared(percentile(25), values).validate(6, 2, 0.2))).toBeUndefined();
  });

  it("compare at the report's time even if the others reported only before and after it", () => {
    const search = compared(median(), [0.1, 0.2, 0.3]);
    for (const trial of [1, 2, 3]) search.validate(trial, 4, 0.1);
    expect(stopIn(search.validate(4, 3, 0.9))).toMatchObject({
      evidence: { time: 3, compared_at: 3, of: 4, cutoff: 0.2 },
    });
  });
});

describe("pbt", () => {
  function population(more: object = {}): DrivenSearch {
    const search = stoppingSearch([pbt(more)], 4);
    for (const trial of [1, 2, 3]) search.validate(trial, 1, trial / 10);
    return search;
  }

  it("stops a trial after several consecutive reports in the lower quantile", () => {
    const search = population();
    expect(stopIn(search.validate(4, 1, 0.9))).toBeUndefined();
    expect(stopIn(search.validate(4, 2, 0.8))).toMatchObject({
      rule: "pbt",
      evidence: { value: 0.8, rank: 4, of: 4, lower: 1, times: 2, patience: 2 },
    });
  });

  it("resets its count when a trial leaves the quantile, and compares only running trials", () => {
    const search = population();
    search.validate(4, 1, 0.9);
    search.validate(4, 2, 0.05);
    expect(stopIn(search.validate(4, 3, 0.9))).toBeUndefined();
    const lonely = population();
    for (const trial of [1, 2, 3]) lonely.end(trial, TrialOutcome.COMPLETED);
    lonely.validate(4, 1, 0.9);
    expect(stopIn(lonely.validate(4, 2, 0.9))).toBeUndefined();
  });
});

describe("several policies", () => {
  it("stop a trial as soon as one policy of the list does", () => {
    expect(stoppedAt([noImprovement(9), threshold(null, 1)], [0.5, 2])).toBe(2);
    expect(stoppedAt([{ any: [noImprovement(1), threshold(null, 1)] }], [0.5, 0.6])).toBe(2);
  });

  it("combined by all stop a trial only together, with the evidence of each", () => {
    const both = { all: [noImprovement(1), threshold(null, 1)] };
    expect(stoppedAt([both], [0.5, 0.6, 2])).toBe(3);
    const search = stoppingSearch([both], 1);
    search.validate(1, 1, 2);
    expect(stopIn(search.validate(1, 2, 3))).toMatchObject({
      rule: "all",
      evidence: {
        policies: [
          { rule: "no_improvement", evidence: { waited: 1 } },
          { rule: "threshold", evidence: { value: 3, upper: 1 } },
        ],
      },
    });
  });

  it("stop no trial twice, and none that has ended", () => {
    const search = stoppingSearch([threshold(null, 1)], 2);
    expect(stopIn(search.validate(1, 1, 2))).toBeDefined();
    expect(search.validate(1, 2, 3)).toHaveLength(1);
    search.end(2, TrialOutcome.COMPLETED);
    expect(stopIn(search.validate(2, 1, 2))).toBeUndefined();
  });

  it("decide before the algorithm: a stopped trial frees its place for another", () => {
    const search = new DrivenSearch();
    const searcher = ashaOf({ max_concurrent_trials: 1 });
    search.start(configOf(searcher, undefined, [threshold(null, 1)]));
    expect(shortly(search.validate(1, 1, 2))).toEqual(["1 ends (threshold)", "new 2"]);
  });
});

describe("max_time", () => {
  it("stops a trial that would train to the end of its code", () => {
    const search = stoppingSearch([], 1, { max_time: 5, time_metric: "epochs" });
    search.send(validation(1, 100, { loss: 1, epochs: 4.5 }));
    expect(stopIn(search.send(validation(1, 120, { loss: 1, epochs: 5.5 })))).toEqual({
      trial: 1,
      rule: "max_time",
      evidence: { max_time: 5, units: 5.5 },
    });
  });

  it("is left to the algorithm in a search with rungs", () => {
    expect(startedSearch(ashaOf()).state.plan?.maxTime).toBeNull();
  });
});

describe("a budget", () => {
  const { COMPLETED, STOPPED_EARLY } = TrialOutcome;
  const timed = (more: object, concurrent: number, trials = 9): DrivenSearch => {
    const search = new DrivenSearch();
    const searcher = { name: "random", metric: "loss", smaller_is_better: true } as const;
    const sizes = { max_trials: trials, max_concurrent_trials: concurrent };
    const config = configOf({ ...searcher, ...sizes }, undefined, [budget(more)]);
    search.send({ type: "StartSearch", config, seed: 1, atMs: 1_000_000 });
    return search;
  };
  const at = (seconds: number): number => 1_000_000 + seconds * 1_000;

  it("of trials is never exceeded, and lets the running trials end", () => {
    const search = timed({ max_trials: 3 }, 2);
    expect(shortly(search.end(1, COMPLETED))).toEqual(["new 3"]);
    expect(search.events.at(-1)).toEqual({
      type: "SearchStopDecided",
      data: { rule: "budget", evidence: { limit: "max_trials", max_trials: 3, spent: 3 } },
    });
    expect(shortly(search.end(2, COMPLETED))).toEqual([]);
    expect(shortly(search.end(3, COMPLETED))).toEqual(["done"]);
  });

  it("of as many trials as max_trials causes no decision", () => {
    const search = timed({ max_trials: 9 }, 0);
    expect(search.events.some(({ type }) => type === "SearchStopDecided")).toBe(false);
  });

  it("of trials stops no member of a population when no copy may be proposed", () => {
    const run = (policies: EarlyStoppingPolicy[]): string[] => {
      const search = new DrivenSearch();
      search.start(configOf(pbtOf({ interval: 2 }), undefined, policies));
      for (const step of [2, 4]) {
        for (const trial of [1, 2, 3, 4]) {
          search.validate(trial, step, trial);
          const checkpoint = `${trial}@${step}`;
          search.send({ type: "RecordCheckpoint", trial, checkpoint, run: 1, step });
        }
      }
      return shortly(search.events);
    };
    expect(run([]).filter((line) => line.includes("ends"))).not.toEqual([]);
    expect(run([budget({ max_trials: 4 })]).filter((line) => line.includes("ends"))).toEqual([]);
  });

  it("of wall time ends the search and stops its trials", () => {
    const search = timed({ max_wall_time: 60 }, 2);
    search.send(validation(1, 1, { loss: 1 }, { atMs: at(59) }));
    const spent = { limit: "max_wall_time", max_wall_time: 60, spent: 61 };
    expect(search.send(validation(2, 1, { loss: 1 }, { atMs: at(61) }))).toMatchObject([
      {},
      { type: "SearchStopDecided", data: { rule: "budget", evidence: spent } },
      { type: "TrialStopDecided", data: { trial: 1, rule: "budget", evidence: spent } },
      { type: "TrialStopDecided", data: { trial: 2, rule: "budget" } },
    ]);
    expect(shortly(search.end(1, STOPPED_EARLY))).toEqual([]);
    expect(shortly(search.end(2, STOPPED_EARLY))).toEqual(["done"]);
  });

  it("of wall time is enforced once by NoteTime without other inputs", () => {
    const search = timed({ max_wall_time: 60 }, 1);
    expect(search.send({ type: "NoteTime", atMs: at(59) })).toEqual([]);
    expect(shortly(search.send({ type: "NoteTime", atMs: at(60) }))).toEqual(["1 ends (budget)"]);
    expect(search.send({ type: "NoteTime", atMs: at(61) })).toEqual([]);
  });

  it("of slot-hours counts running and ended runs", () => {
    const search = timed({ max_slot_hours: 1 }, 2);
    const usage = (trial: number, started: boolean, seconds: number) =>
      search.send({ type: "RecordUsage", trial, run: 1, started, atMs: at(seconds) });
    usage(1, true, 0);
    usage(2, true, 600);
    usage(1, false, 1_800);
    expect(search.send({ type: "NoteTime", atMs: at(2_300) })).toEqual([]);
    expect(shortly(search.send({ type: "NoteTime", atMs: at(2_400) }))).toEqual([
      "1 ends (budget)",
      "2 ends (budget)",
    ]);
  });

  it("without slot-hours records no usage of runs", () => {
    const search = timed({ max_trials: 3 }, 2);
    const started = { type: "RecordUsage", trial: 1, run: 1, started: true, atMs: 5 } as const;
    expect(search.send(started)).toEqual([]);
  });
});
