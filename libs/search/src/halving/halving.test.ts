/**
 * Determined's published behaviour in both forms of halving, and Trainyard's additions: evidence, closed rungs, and
 * values that are not finite.
 */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { HalvingSearcher } from "@trainyard/experiment-config";
import { describe, expect, it } from "vitest";
import type { SearchEvent } from "../events.ts";
import { searchLimits } from "../limits.ts";
import { encodeSearch } from "../snapshot.ts";
import {
  adaptiveOf,
  ashaOf,
  asyncHalvingOf,
  halvingOf,
  hyperbandOf,
  type Scripted,
  shortly,
  startedSearch,
  timesAskedFor,
} from "../testing/halving.ts";

const twelve = Array.from({ length: 12 }, (_, i) => ({ value: (i + 1) / 100 }));
const all = [1, 3, 9];
const halfway = [1, 3];
const short = [1];

function asked(config: HalvingSearcher, scripts: readonly Scripted[]): number[][] {
  return timesAskedFor(config, (trial) => scripts[trial - 1] ?? { value: 1 });
}

describe("the promotion form of Determined until 0.37", () => {
  const promoting = asyncHalvingOf({ resume: true });

  it("promotes the best third at each rung", () => {
    const times = [all, ...Array(3).fill(halfway), ...Array(8).fill(short)];
    expect(asked(promoting, twelve)).toEqual(times);
    const larger = { ...promoting, smaller_is_better: false };
    expect(asked(larger, twelve.toReversed())).toEqual(times);
  });

  it("promotes a trial as soon as it becomes one of the best", () => {
    const scripts: Scripted[] = [
      { value: 0.1 },
      { value: 0.11 },
      { value: 0.12, diesAt: 1 },
      ...twelve.slice(0, 9),
    ];
    expect(asked(promoting, scripts)).toEqual([
      halfway,
      short,
      short,
      all,
      halfway,
      halfway,
      halfway,
      ...Array(5).fill(short),
    ]);
  });

  it("is also the form of adaptive brackets", () => {
    const config = adaptiveOf({ resume: true, max_trials: 5, max_rungs: 2, max_time: 900 });
    const scripts = [{ value: 0.1 }, { value: 0.2, diesAt: 300 }, { value: 0.3 }];
    expect(asked(config, scripts)).toEqual([[300, 900], [300], [300], [900], [900]]);
  });
});

describe("the stopping form of Determined 0.38", () => {
  it("lets a trial continue if it is among the best third at its arrival", () => {
    expect(asked(asyncHalvingOf(), twelve)).toEqual([all, ...Array(11).fill(short)]);
    expect(asked(asyncHalvingOf({ smaller_is_better: false }), twelve)).toEqual(
      Array(12).fill(all),
    );
  });

  it("ranks a failed trial last, and lets a trial with an equal value continue", () => {
    const scripts = twelve.map((_, i) =>
      i === 4 ? { value: 0.01, diesAt: 3 } : { value: ((i % 4) + 1) / 100 },
    );
    expect(asked(asyncHalvingOf(), scripts)).toEqual([
      all,
      ...Array(3).fill(short),
      halfway,
      ...Array(3).fill(short),
      all,
      ...Array(3).fill(short),
    ]);
  });

  it("takes a trial through several rungs with one report", () => {
    const search = startedSearch(ashaOf({ resume: false, max_concurrent_trials: 1 }));
    expect(shortly(search.validate(1, 4, 0.5))).toEqual(["1 on to 3", "1 on to 9"]);
    expect(shortly(search.validate(1, 9, 0.5))).toEqual(["1 ends (max_time)", "new 2"]);
  });
});

describe("a decision of halving", () => {
  it("has evidence with rank, cutoff and neighbours", () => {
    const search = startedSearch(ashaOf({ resume: false, max_concurrent_trials: 3 }));
    search.validate(1, 1, 0.5);
    const [, stopped] = search.validate(2, 1, 0.6);
    expect(stopped).toEqual({
      type: "TrialStopDecided",
      data: {
        trial: 2,
        rule: "halving",
        evidence: {
          bracket: 0,
          rung: 0,
          units: 1,
          value: 0.6,
          rank: 2,
          of: 2,
          kept: 1,
          divisor: 3,
          cutoff: 0.5,
          neighbours: [{ trial: 1, value: 0.5 }],
        },
      },
    });
  });

  it("has evidence with values as reported, and at most eight neighbours", () => {
    const searcher = ashaOf({
      smaller_is_better: false,
      max_trials: 40,
      max_concurrent_trials: 40,
    });
    const search = startedSearch(searcher);
    for (let trial = 1; trial < 40; trial += 1) search.validate(trial, 1, trial);
    const events = search.validate(40, 1, 20.5);
    const evidence = events.flatMap((event) =>
      event.type === "TrialSuspended" ? [event.data.evidence] : [],
    );
    expect(evidence[0]).toMatchObject({ value: 20.5, rank: 20, of: 40, kept: 13, cutoff: 27 });
    expect(evidence[0]?.["neighbours"]).toHaveLength(8);
  });
});

describe("a value that is not finite", () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    "never continues, even as the first of its rung (%d)",
    (value) => {
      for (const resume of [true, false]) {
        const search = startedSearch(ashaOf({ resume, max_concurrent_trials: 1, max_trials: 2 }));
        expect(shortly(search.validate(1, 1, value))).toEqual(["1 ends (not_finite)", "new 2"]);
        const text = encodeSearch(search.state);
        search.restore();
        expect(encodeSearch(search.state)).toBe(text);
      }
    },
  );
});

describe("a report without effect", () => {
  it("is one of a stopped trial, or one of an earlier time", () => {
    const search = startedSearch(asyncHalvingOf({ max_trials: 4, max_concurrent_trials: 2 }));
    search.validate(1, 1, 0.5);
    expect(shortly(search.validate(2, 1, 0.6))).toEqual(["2 ends (halving)", "new 3"]);
    const before = JSON.stringify(halvingOf(search));
    expect(shortly(search.validate(2, 3, 0.1))).toEqual([]);
    expect(shortly(search.validate(1, 0.5, 0.1))).toEqual([]);
    expect(JSON.stringify(halvingOf(search))).toBe(before);
  });

  it("is one of a trial that failed for a report without the metric", () => {
    const search = startedSearch(ashaOf());
    const report = { run: 1, currentRun: 1, step: 1, measurement: "m", scalars: {} };
    expect(shortly(search.send({ type: "RecordValidation", trial: 1, ...report }))).toEqual([
      "1 ends (metric_missing)",
    ]);
    expect(shortly(search.validate(1, 2, 0.5))).toEqual([]);
  });
});

describe("late reports of a suspended trial", () => {
  const late = { run: 1, currentRun: 1, step: 2, measurement: "late", scalars: { other: 1 } };

  it("decide nothing, even if the metric is missing", () => {
    const search = startedSearch(ashaOf({ max_concurrent_trials: 1 }));
    search.validate(1, 1, 0.5);
    expect(shortly(search.validate(1, 2, 0.1))).toEqual([]);
    expect(shortly(search.send({ type: "RecordValidation", trial: 1, ...late }))).toEqual([]);
  });

  it("count when the trial is promoted, since its next run may only repeat them", () => {
    const search = startedSearch(ashaOf({ max_concurrent_trials: 1 }));
    search.validate(1, 1, 0.5);
    search.validate(1, 3, 0.4);
    search.validate(2, 1, 0.6);
    const promoted = ["3 waits", "1 on to 3", "1 waits", "new 4"];
    expect(shortly(search.validate(3, 1, 0.7))).toEqual(promoted);
  });

  it("stop the trial when it is promoted to the last rung", () => {
    const search = startedSearch(ashaOf({ max_concurrent_trials: 1, max_time: 3, min_time: 1 }));
    search.validate(1, 1, 0.5);
    search.validate(1, 4, 0.4);
    search.validate(2, 1, 0.6);
    const ended = ["3 waits", "1 on to 3", "1 ends (max_time)", "new 4"];
    expect(shortly(search.validate(3, 1, 0.7))).toEqual(ended);
  });
});

describe("the end of a trial", () => {
  it("frees a place for another trial, and counts as the worst value at its rung", () => {
    const search = startedSearch(ashaOf({ max_concurrent_trials: 2 }));
    expect(shortly(search.end(1, TrialOutcome.FAILED))).toEqual(["new 3"]);
    expect(halvingOf(search).brackets[0]?.rungs[0]?.arrivals).toBe(1);
  });

  it("with invalid hyperparameters replaces the trial without counting it", () => {
    const search = startedSearch(ashaOf({ max_concurrent_trials: 1, max_trials: 1 }));
    expect(shortly(search.end(1, TrialOutcome.INVALID_HYPERPARAMETERS))).toEqual(["new 2"]);
    expect(shortly(search.end(2, TrialOutcome.COMPLETED))).toEqual(["done"]);
  });

  it("excludes a suspended trial from promotion", () => {
    const search = startedSearch(ashaOf({ max_concurrent_trials: 1, max_trials: 3 }));
    search.validate(1, 1, 0.1);
    search.validate(2, 1, 0.2);
    search.end(1, TrialOutcome.CANCELED);
    // The rung promotes one trial, which would have been trial 1, but trial 1 has ended.
    expect(shortly(search.validate(3, 1, 0.3))).toEqual([
      "3 waits",
      "3 ends (rung_closed)",
      "2 ends (rung_closed)",
    ]);
  });
});

describe("a closed rung", () => {
  it("stops its waiting trials, and a rung too small to promote any promotes its best trial", () => {
    const search = startedSearch(ashaOf({ max_concurrent_trials: 1, max_trials: 2 }));
    expect(shortly(search.validate(1, 1, 0.5))).toEqual(["1 waits", "new 2"]);
    expect(shortly(search.validate(2, 1, 0.4))).toEqual(["2 on to 3", "1 ends (rung_closed)"]);
    expect(shortly(search.validate(2, 3, 0.4))).toEqual(["2 on to 9"]);
    expect(shortly(search.validate(2, 9, 0.4))).toEqual(["2 ends (max_time)"]);
    search.end(1, TrialOutcome.STOPPED_EARLY);
    expect(shortly(search.end(2, TrialOutcome.STOPPED_EARLY))).toEqual(["done"]);
  });
});

describe("a large closed rung", () => {
  it("stops its waiting trials in parts, as trials end", () => {
    const trials = 400;
    const search = startedSearch(
      ashaOf({ max_trials: trials, max_concurrent_trials: trials, max_time: 3, divisor: 4 }),
    );
    for (let trial = 1; trial < trials; trial += 1) search.validate(trial, 1, trial);
    const closing = (events: readonly SearchEvent[]): number[] =>
      events.flatMap((event) =>
        event.type === "TrialStopDecided" && event.data.rule === "rung_closed"
          ? [event.data.trial]
          : [],
      );
    const first = closing(search.validate(trials, 1, trials));
    expect(first).toHaveLength(searchLimits.closingsPerDecisionMax);
    const rest = closing(search.end(first[0] ?? 0, TrialOutcome.STOPPED_EARLY));
    expect(new Set([...first, ...rest]).size).toBe(300);
    expect(closing(search.end(first[1] ?? 0, TrialOutcome.STOPPED_EARLY))).toEqual([]);
  });
});

describe("Hyperband", () => {
  it("promotes from a rung once its whole bracket has reached it, and meanwhile starts other brackets", () => {
    const search = startedSearch(hyperbandOf({ max_time: 3, max_concurrent_trials: 1 }));
    // The search has two brackets: one with three trials, halved once, and one with two full trainings.
    expect(shortly(search.validate(1, 1, 0.3))).toEqual(["1 waits", "new 2"]);
    expect(shortly(search.validate(2, 1, 0.1))).toEqual(["2 waits", "new 3"]);
    expect(shortly(search.validate(3, 1, 0.2))).toEqual([
      "3 waits",
      "2 on to 3",
      "1 ends (rung_closed)",
      "3 ends (rung_closed)",
    ]);
    expect(shortly(search.validate(2, 3, 0.1))).toEqual(["2 ends (max_time)", "new 4"]);
  });
});

describe("a trial without the time metric", () => {
  it("is stopped, and another trial replaces it when it has ended", () => {
    const search = startedSearch(ashaOf({ time_metric: "epochs", max_concurrent_trials: 1 }));
    expect(shortly(search.validate(1, 1, 0.5))).toEqual(["1 ends (time_metric_missing)"]);
    expect(shortly(search.end(1, TrialOutcome.STOPPED_EARLY))).toEqual(["new 2"]);
  });
});

describe("a halving search that is finishing", () => {
  it("proposes no trial, promotes the best waiting trials and stops the others", () => {
    const search = startedSearch(ashaOf({ max_concurrent_trials: 1 }));
    search.validate(1, 1, 0.5);
    search.validate(2, 1, 0.4);
    const finish = { type: "SearchStopDecided", data: { rule: "budget" } } as const;
    search.machine.apply(finish);
    expect(shortly(search.validate(3, 1, 0.6))).toEqual([
      "3 waits",
      "2 on to 3",
      "3 ends (rung_closed)",
      "1 ends (rung_closed)",
    ]);
  });
});
