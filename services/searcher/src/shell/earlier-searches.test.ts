import type { EventData, EventOf } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import { Stage } from "@trainyard/runtime/stage";
import { beforeEach, describe, expect, test } from "vitest";
import { exampleConfig, experimentCreated, trialEnded } from "../testing/examples.ts";
import { reactionHandlers } from "./reactions.ts";
import { RunIndex } from "./run-index.ts";

let stage: Stage;

beforeEach(async () => {
  stage = new Stage("searcher", ({ log }) => reactionHandlers(new RunIndex(log), log));
  await stage.tell("experiment-3", experimentCreated());
  for (const [trial, loss] of [
    ["3.1", 0.5],
    ["3.2", 0.25],
    ["3.3", 0.75],
  ] as const) {
    await stage.settle();
    await stage.tell(`trial-${trial}`, runRequested);
    await stage.tell(`measurement-${trial}`, reported(trial, loss));
    const outcome = trial === "3.3" ? TrialOutcome.FAILED : TrialOutcome.COMPLETED;
    await stage.tell(`trial-${trial}`, trialEnded(outcome));
  }
  await stage.settle();
});

const runRequested: EventOf<"RunRequested"> = {
  type: "RunRequested",
  data: {
    fromCheckpoint: "",
    fromStep: 0,
    preemptible: true,
    experiment: "3",
    delayMs: 0,
    workspace: "",
    owner: "",
    run: 1,
  },
};

function reported(trial: string, loss: number): EventOf<"ValidationReported"> {
  const data = { trial, run: 1, step: 10, scalars: { loss }, reportKey: "0-10", nonNumeric: [] };
  return { type: "ValidationReported", data };
}

function startedFrom(
  experiments: readonly number[],
  more: object = {},
): EventOf<"ExperimentCreated"> {
  const searcher = {
    ...exampleConfig.searcher,
    name: "tpe",
    multivariate: true,
    warm_start: { experiments: [...experiments] },
    ...more,
  };
  const { data } = experimentCreated();
  return { type: "ExperimentCreated", data: { ...data, config: { ...exampleConfig, searcher } } };
}

async function earlierOf12(): Promise<EventData<"SearchStarted">["earlier"]> {
  const [first] = await stage.stream("search-12");
  if (first?.type !== "SearchStarted") throw new Error("the search has started");
  return first.data.earlier;
}

describe("a search with a warm start", () => {
  test("records the results of the earlier trials, and ignores unknown experiments", async () => {
    await stage.tell("experiment-12", startedFrom([3, 99, 3]));
    await stage.settle();
    const earlier = await earlierOf12();
    expect(
      earlier?.trials.map(({ experiment, trial, values }) => [experiment, trial, values]),
    ).toEqual([
      ["3", 1, { loss: 0.5 }],
      ["3", 2, { loss: 0.25 }],
    ]);
    expect(earlier?.leftOut).toBe(0);
  });

  test("ignores an earlier search with another direction", async () => {
    await stage.tell("experiment-12", startedFrom([3], { smaller_is_better: false }));
    await stage.settle();
    expect((await earlierOf12())?.trials).toEqual([]);
  });

  test("makes the same decisions again from its events, even if the earlier search changes", async () => {
    await stage.tell("experiment-12", startedFrom([3]));
    await stage.settle();
    const before = await stage.stream("search-12");
    await stage.tell("measurement-3.2", reported("3.2", 0.01));
    stage.afresh();
    await stage.settle();
    expect(await stage.stream("search-12")).toEqual(before);
  });
});
