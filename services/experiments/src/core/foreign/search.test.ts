import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import { fold } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import {
  trialProposed,
  trialResumed,
  trialStopDecided,
  trialSuspended,
} from "../../testing/examples.ts";
import { evolveSearch, initialSearch, searchWant, trialsNotOver } from "./search.ts";

const outcome = (trial: number) =>
  ({ type: "TrialOutcomeRecorded", data: { trial, outcome: TrialOutcome.COMPLETED } }) as const;

describe("the state that a search wants for a trial", () => {
  test("follows its decisions, and a stop is final", () => {
    const wants = [trialProposed(1), trialSuspended, trialResumed, trialStopDecided, trialResumed];
    const states = wants.map((_, n) => fold(evolveSearch, initialSearch, wants.slice(0, n + 1)));
    expect(states.map((state) => searchWant(state, 1))).toEqual([
      "run",
      "suspended",
      "run",
      { stopped: "asha", fails: false },
      { stopped: "asha", fails: false },
    ]);
  });

  test("is null for a trial that was not proposed", () => {
    expect(searchWant(initialSearch, 1)).toBeNull();
    expect(evolveSearch(initialSearch, trialStopDecided)).toBe(initialSearch);
  });

  test("is over once the outcome is recorded", () => {
    const state = fold(evolveSearch, initialSearch, [trialProposed(1), outcome(1), trialResumed]);
    expect(searchWant(state, 1)).toBe("over");
  });

  test("is correct across many trials", () => {
    const many = Array.from({ length: 1_300 }, (_, n) => trialProposed(n + 1));
    const over = Array.from({ length: 1_298 }, (_, n) => outcome(n + 1));
    const state = fold(evolveSearch, initialSearch, [...many, ...over]);
    expect(state.proposed).toBe(1_300);
    expect(trialsNotOver(state)).toEqual([1_299, 1_300]);
  });

  test("is kept when the search completes", () => {
    const reason = SearchCompletion.EXHAUSTED;
    const state = evolveSearch(initialSearch, { type: "SearchCompleted", data: { reason } });
    expect(state.completed).toBe(reason);
  });
});
