import { ExperimentOutcome, SearchCompletion, StopKind } from "@trainyard/contracts/events";
import { fold } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import { activated, experimentCreated, paused, stopRequested } from "../../testing/examples.ts";
import { evolveExperiment, initialExperiment } from "../experiment/evolve.ts";
import type { ExperimentEvent } from "../experiment/state.ts";
import { initialSearch } from "../foreign/search.ts";
import { experimentEnd, mayEnd } from "./experiment-end.ts";

const active = [experimentCreated(), activated] as const;
const state = (events: readonly ExperimentEvent[]) =>
  fold(evolveExperiment, initialExperiment, events);
const completed = (reason: SearchCompletion) => ({ ...initialSearch, completed: reason });

describe("an experiment may end", () => {
  test("once its search is complete, paused or not", () => {
    const search = completed(SearchCompletion.EXHAUSTED);
    expect(mayEnd(state(active), search)).toBe(true);
    expect(mayEnd(state([...active, paused]), search)).toBe(true);
    expect(mayEnd(state(active), initialSearch)).toBe(false);
  });

  test("once it is stopping, whatever the search does", () => {
    expect(mayEnd(state([...active, stopRequested()]), initialSearch)).toBe(true);
  });

  test("once only", () => {
    const ended: ExperimentEvent = {
      type: "ExperimentEnded",
      data: { outcome: ExperimentOutcome.CANCELED, reason: "" },
    };
    expect(mayEnd(state([...active, stopRequested(), ended]), initialSearch)).toBe(false);
    expect(mayEnd(state([]), initialSearch)).toBe(false);
  });
});

describe("an experiment ends as", () => {
  test("canceled with the reason of the stop", () => {
    const stopped = state([...active, stopRequested(StopKind.KILL)]);
    expect(experimentEnd(stopped, completed(SearchCompletion.EXHAUSTED), "")).toEqual({
      outcome: ExperimentOutcome.CANCELED,
      reason: "enough",
    });
  });

  test("completed when its search is exhausted", () => {
    expect(experimentEnd(state(active), completed(SearchCompletion.EXHAUSTED), "").outcome).toBe(
      ExperimentOutcome.COMPLETED,
    );
  });

  test("completed with the reason for which the search ended early", () => {
    const search = { ...completed(SearchCompletion.EXHAUSTED), finished: "budget: spent" };
    expect(experimentEnd(state(active), search, "")).toEqual({
      outcome: ExperimentOutcome.COMPLETED,
      reason: "budget: spent",
    });
  });

  test("failed, with the last trial's reason, when no trial could be trained", () => {
    const search = completed(SearchCompletion.FAILED);
    expect(experimentEnd(state(active), search, "trial 12.1: boom")).toEqual({
      outcome: ExperimentOutcome.FAILED,
      reason: "trial 12.1: boom",
    });
  });
});
