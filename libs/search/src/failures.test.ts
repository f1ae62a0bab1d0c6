import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import type { SearcherConfig } from "@trainyard/experiment-config";
import { describe, expect, it } from "vitest";
import { replaySearch } from "./replay/replay.ts";
import { stopSentence } from "./sentences.ts";
import { trialOf } from "./state.ts";
import { ashaOf } from "./testing/halving.ts";
import { configOf, DrivenSearch, randomOf } from "./testing/searches.ts";

function started(searcher: SearcherConfig): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf({ ...searcher, max_failures: 3 }), 5);
  return search;
}

describe("max_failures", () => {
  it("ends a search as failed after enough failed trials, without proposing the rest", () => {
    const search = started(randomOf(40, 2));
    for (const trial of [1, 2]) search.end(trial, TrialOutcome.FAILED);
    expect(search.proposals()).toHaveLength(4);
    const events = search.end(3, TrialOutcome.FAILED);
    const evidence = { max_failures: 3, failed: 3 };
    expect(events.slice(1)).toEqual([
      { type: "SearchStopDecided", data: { rule: "max_failures", evidence, fails: true } },
      { type: "TrialStopDecided", data: { trial: 4, rule: "max_failures", evidence } },
    ]);
    search.end(4, TrialOutcome.STOPPED_EARLY);
    expect(search.proposals()).toHaveLength(4);
    expect(search.completion()?.reason).toBe(SearchCompletion.FAILED);
    expect(replaySearch(search.events).differences).toEqual([]);
    expect(stopSentence("max_failures", evidence)).toBe(
      "max_failures: 3 of its trials have failed, and max_failures is 3",
    );
  });

  it("does not count trials that completed, were canceled or had invalid hyperparameters", () => {
    const search = started(randomOf(8, 8));
    const outcomes = [
      TrialOutcome.FAILED,
      TrialOutcome.INVALID_HYPERPARAMETERS,
      TrialOutcome.CANCELED,
      TrialOutcome.COMPLETED,
      TrialOutcome.FAILED,
    ];
    for (const [index, outcome] of outcomes.entries()) search.end(index + 1, outcome);
    expect(search.events.filter(({ type }) => type === "SearchStopDecided")).toEqual([]);
  });

  it("stops suspended trials of a halving search, too", () => {
    const search = started(ashaOf({ max_trials: 40 }));
    const [first] = search.proposals();
    for (let trial = 1; trial <= 3; trial += 1) search.validate(trial, 1, trial);
    const open = search.proposals().map(({ number }) => number);
    const failing = open.filter((trial) => trialOf(search.state, trial)?.wanted === "run");
    for (const trial of failing.slice(0, 3)) search.end(trial, TrialOutcome.FAILED);
    expect(first).toBeDefined();
    const left = search
      .proposals()
      .filter(({ number }) => trialOf(search.state, number)?.outcome === TrialOutcome.UNSPECIFIED);
    expect(left.length).toBeGreaterThan(0);
    for (const { number } of left) {
      expect(trialOf(search.state, number)?.wanted).toBe("stopped");
      search.end(number, TrialOutcome.STOPPED_EARLY);
    }
    expect(search.completion()?.reason).toBe(SearchCompletion.FAILED);
  });
});
