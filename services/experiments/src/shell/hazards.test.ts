/** Tests of a trial under events of other services in awkward orders; each order is a named hazard. */
import {
  ExperimentOutcome,
  SearchCompletion,
  StopKind,
  TrialOutcome,
} from "@trainyard/contracts/events";
import { systemClock } from "@trainyard/kernel/system-clock";
import { Stage } from "@trainyard/runtime/stage";
import { beforeEach, describe, expect, test } from "vitest";
import {
  acknowledged,
  activated,
  agentLost,
  allocationEnded,
  allocationStarted,
  checkpointA,
  checkpointB,
  checkpointCompleted,
  crashed,
  exampleConfig,
  exit,
  experimentCreated,
  finished,
  killed,
  paused,
  stopRequested,
  trialProposed,
  trialResumed,
  trialStopDecided,
  trialSuspended,
  withdrawn,
} from "../testing/examples.ts";
import { reactionHandlers } from "./reactions.ts";
import { noFanOuts, waitsBy } from "../testing/small-fan-outs.ts";

let stage: Stage;
/** The difference by which the service's clock is ahead of the events. */
let aheadMs = 0;

beforeEach(() => {
  aheadMs = 0;
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
  stage = new Stage("experiments", () => reactionHandlers(waitsBy(clock), noFanOuts));
});

const experiment = "experiment-12";
const search = "search-12";
const trial = "trial-12.1";
const allocation = (run: number) => `allocation-12.1#${run}`;

async function happens(stream: string, ...events: Parameters<Stage["tell"]>[1][]): Promise<void> {
  await stage.tell(stream, ...events);
  await stage.settle();
}

async function queuedTrial(): Promise<void> {
  await happens(experiment, experimentCreated(), activated);
  await happens(search, trialProposed());
}

async function runningTrial(): Promise<void> {
  await queuedTrial();
  await happens(allocation(1), allocationStarted);
}

/** Returns the types of the last events in the trial's stream. */
async function last(count: number): Promise<readonly string[]> {
  return (await stage.names(trial)).slice(-count);
}

async function lastOutcome(): Promise<TrialOutcome | null> {
  const event = (await stage.stream(trial)).at(-1);
  return event?.type === "TrialEnded" ? event.data.outcome : null;
}

async function lastRequest() {
  const requests = (await stage.stream(trial)).filter((event) => event.type === "RunRequested");
  return requests.at(-1)?.data;
}

async function endOf(): Promise<ExperimentOutcome | null> {
  const event = (await stage.stream(experiment)).at(-1);
  return event?.type === "ExperimentEnded" ? event.data.outcome : null;
}

describe("a trial without hazards", () => {
  test("is created, queued, started and finished, and then its experiment ends", async () => {
    await runningTrial();
    await happens(allocation(1), finished);
    expect(await stage.names(trial)).toEqual([
      "TrialCreated",
      "RunRequested",
      "RunStarted",
      "RunEnded",
      "TrialEnded",
    ]);
    await happens(search, {
      type: "SearchCompleted",
      data: { reason: SearchCompletion.EXHAUSTED },
    });
    expect(await endOf()).toBe(ExperimentOutcome.COMPLETED);
  });

  test("is created in a paused experiment, and runs when it is activated", async () => {
    await happens(experiment, experimentCreated());
    await happens(search, trialProposed());
    expect(await stage.names(trial)).toEqual(["TrialCreated"]);
    await happens(experiment, activated);
    expect(await last(1)).toEqual(["RunRequested"]);
  });

  test("restarts from its latest checkpoint after a failure, until its restarts are used up", async () => {
    await happens(experiment, experimentCreated({ ...exampleConfig, max_restarts: 1 }), activated);
    await happens(search, trialProposed());
    await happens(`checkpoint-${checkpointA}`, checkpointCompleted(1, 100));
    await happens(allocation(1), allocationStarted, crashed);
    expect(await lastRequest()).toMatchObject({
      run: 2,
      fromCheckpoint: checkpointA,
      fromStep: 100,
    });
    await happens(allocation(2), allocationStarted, crashed);
    expect(await lastOutcome()).toBe(TrialOutcome.FAILED);
    await happens(search, { type: "SearchCompleted", data: { reason: SearchCompletion.FAILED } });
    expect(await endOf()).toBe(ExperimentOutcome.FAILED);
    expect((await stage.stream(experiment)).at(-1)).toMatchObject({
      data: { reason: "trial 12.1: run 2: ValueError: boom (after 1 restart)" },
    });
  });

  test("restarts from a checkpoint that completed just before", async () => {
    await runningTrial();
    await stage.tell(`checkpoint-${checkpointA}`, checkpointCompleted(1, 100));
    await stage.tell(allocation(1), crashed);
    await stage.settle();
    expect(await lastRequest()).toMatchObject({ run: 2, fromCheckpoint: checkpointA });
  });

  test("that starts from another trial's checkpoint names it in its first run, with the evidence", async () => {
    await runningTrial();
    await happens(`checkpoint-${checkpointA}`, checkpointCompleted(1, 100));
    const { origin, evidence } = trialProposed().data;
    await happens(search, trialProposed(2, 1));
    expect(await stage.stream("trial-12.2")).toMatchObject([
      {
        type: "TrialCreated",
        data: { warmStartCheckpoint: checkpointA, sourceTrial: "12.1", origin, evidence },
      },
      { type: "RunRequested", data: { fromCheckpoint: checkpointA, fromStep: 0 } },
    ]);
  });
});

describe("a trial under hazards", () => {
  test("ends as stopped early if its run is still queued at the stop", async () => {
    await queuedTrial();
    await happens(search, trialStopDecided);
    expect(await last(1)).toEqual(["RunStopRequested"]);
    await happens(allocation(1), withdrawn);
    expect(await last(2)).toEqual(["RunEnded", "TrialEnded"]);
    expect(await lastOutcome()).toBe(TrialOutcome.STOPPED_EARLY);
  });

  test("stays suspended if its preempted run ended just before the suspension", async () => {
    await runningTrial();
    await stage.tell(allocation(1), acknowledged);
    await stage.tell(search, trialSuspended);
    await stage.settle();
    // Whether the suspension was read before the end or after it: the trial has no slots and has not ended.
    if ((await last(1))[0] !== "RunEnded") await happens(allocation(2), withdrawn);
    expect(await last(1)).toEqual(["RunEnded"]);
    await happens(search, trialResumed);
    expect(await last(1)).toEqual(["RunRequested"]);
  });

  test("stays suspended if the next run after a preemption was queued already", async () => {
    await runningTrial();
    await happens(allocation(1), acknowledged);
    await happens(search, trialSuspended);
    expect(await last(2)).toEqual(["RunRequested", "RunStopRequested"]);
    await happens(allocation(2), withdrawn);
    expect(await last(1)).toEqual(["RunEnded"]);
  });

  test("keeps its run if it is resumed while the run stops", async () => {
    await runningTrial();
    await happens(search, trialSuspended);
    await happens(search, trialResumed);
    expect(await last(2)).toEqual(["RunStopRequested", "RunStopWithdrawn"]);
    await happens(allocation(1), finished);
    expect(await lastOutcome()).toBe(TrialOutcome.COMPLETED);
  });

  test("counts a non-zero exit during a suspension as a failure, and waits for the resume", async () => {
    await runningTrial();
    await happens(search, trialSuspended);
    await happens(allocation(1), allocationEnded({ exits: [exit(1)] }));
    expect((await stage.stream(trial)).at(-1)).toMatchObject({
      type: "RunEnded",
      data: { countsAsRestart: true },
    });
    await happens(search, trialResumed);
    expect(await last(1)).toEqual(["RunRequested"]);
  });

  test("completes if it finishes while a stop is on its way", async () => {
    await runningTrial();
    await happens(search, trialStopDecided);
    await happens(allocation(1), finished);
    expect(await lastOutcome()).toBe(TrialOutcome.COMPLETED);
  });

  test("does not change at a stop after its end", async () => {
    await runningTrial();
    await stage.tell(allocation(1), finished);
    await stage.tell(search, trialStopDecided);
    await stage.settle();
    expect((await stage.names(trial)).filter((name) => name === "TrialEnded")).toHaveLength(1);
  });

  test("gets one new run after a quick series of pauses and activations", async () => {
    await runningTrial();
    await stage.tell(experiment, paused, activated, paused, activated);
    await stage.settle();
    const stops = (await stage.names(trial)).filter((name) => name === "RunStopRequested");
    expect(stops.length).toBeLessThanOrEqual(1);
    await happens(allocation(1), acknowledged);
    expect(await last(2)).toEqual(["RunEnded", "RunRequested"]);
  });

  test("follows each pause and each activation when they are read one by one", async () => {
    await runningTrial();
    await happens(experiment, paused);
    await happens(experiment, activated);
    expect(await last(2)).toEqual(["RunStopRequested", "RunStopWithdrawn"]);
    await happens(experiment, paused);
    expect(await last(1)).toEqual(["RunStopRequested"]);
    await happens(allocation(1), acknowledged);
    expect(await last(1)).toEqual(["RunEnded"]);
    await happens(experiment, activated);
    expect(await last(1)).toEqual(["RunRequested"]);
  });

  test("ignores the events of a run that was declared lost", async () => {
    await runningTrial();
    await happens(allocation(1), agentLost);
    expect(await last(2)).toEqual(["RunEnded", "RunRequested"]);
    const before = await stage.names(trial);
    await happens(allocation(1), finished);
    await happens(`checkpoint-${checkpointA}`, checkpointCompleted(1, 500));
    expect(await stage.names(trial)).toEqual(before);
  });

  test("delays the end of its experiment while it restarts, although the search is complete", async () => {
    await runningTrial();
    await happens(allocation(1), crashed);
    await happens(search, {
      type: "SearchCompleted",
      data: { reason: SearchCompletion.EXHAUSTED },
    });
    expect(await endOf()).toBeNull();
    await happens(allocation(2), allocationStarted, finished);
    expect(await endOf()).toBe(ExperimentOutcome.COMPLETED);
  });

  test("is created although its search completed before the proposal was reached", async () => {
    await happens(experiment, experimentCreated(), activated);
    await stage.tell(search, trialProposed(), {
      type: "SearchCompleted",
      data: { reason: SearchCompletion.EXHAUSTED },
    });
    await stage.settle();
    expect(await stage.names(trial)).toEqual(["TrialCreated", "RunRequested"]);
    expect(await endOf()).toBeNull();
  });

  test("is not created if its experiment was killed before the proposal", async () => {
    await stage.tell(experiment, experimentCreated(), activated, stopRequested(StopKind.KILL));
    await stage.settle();
    expect(await endOf()).toBe(ExperimentOutcome.CANCELED);
    await happens(search, trialProposed());
    expect(await stage.names(trial)).toEqual([]);
  });

  test("is not created if its experiment was killed during the proposal", async () => {
    await stage.tell(experiment, experimentCreated(), activated);
    await stage.tell(search, trialProposed());
    await stage.tell(experiment, stopRequested(StopKind.KILL));
    await stage.settle();
    expect(await stage.names(trial)).toEqual([]);
    expect(await endOf()).toBe(ExperimentOutcome.CANCELED);
  });

  test("is created once, with one run, if the leader dies before and after the commit", async () => {
    await happens(experiment, experimentCreated(), activated);
    await stage.tell(search, trialProposed());
    // The leader dies before its commit, and again after it, before it knows that its cursor has moved.
    stage.afresh();
    await stage.settle();
    stage.afresh();
    await stage.settle();
    expect(await stage.names(trial)).toEqual(["TrialCreated", "RunRequested"]);
  });

  test("is killed by a kill after a cancel", async () => {
    await runningTrial();
    await happens(experiment, stopRequested(StopKind.CANCEL));
    await happens(experiment, stopRequested(StopKind.KILL));
    expect(await last(2)).toEqual(["RunStopRequested", "RunStopRequested"]);
    await happens(allocation(1), killed);
    expect(await lastOutcome()).toBe(TrialOutcome.CANCELED);
    expect(await endOf()).toBe(ExperimentOutcome.CANCELED);
  });

  test("ends its experiment only if it is the last one", async () => {
    await runningTrial();
    await happens(search, trialProposed(2));
    await happens(experiment, stopRequested());
    await happens(allocation(1), acknowledged);
    expect(await endOf()).toBeNull();
    await happens("allocation-12.2#1", withdrawn);
    expect(await endOf()).toBe(ExperimentOutcome.CANCELED);
  });

  test("counts as stopped early if it is killed because it did not react to the search's stop", async () => {
    await runningTrial();
    await happens(search, trialStopDecided);
    await happens(allocation(1), killed);
    expect(await lastOutcome()).toBe(TrialOutcome.STOPPED_EARLY);
  });
});

describe("a condemned checkpoint", () => {
  const condemned = {
    type: "CheckpointCondemned",
    data: {
      competitors: [],
      referencesChecked: [],
      graceEndMs: 0,
      experiment: "12",
      by: "",
      reason: "",
    },
  } as const;
  const spared = { type: "CheckpointSpared", data: { reason: "pinned" } } as const;

  beforeEach(async () => {
    await runningTrial();
    await happens(`checkpoint-${checkpointA}`, checkpointCompleted(1, 100));
    await happens(`checkpoint-${checkpointB}`, checkpointCompleted(1, 200));
  });

  test("is not restored from: the run starts from the one before", async () => {
    await happens(`retention-${checkpointB}`, condemned);
    await happens(allocation(1), crashed);
    expect(await lastRequest()).toMatchObject({ fromCheckpoint: checkpointA, fromStep: 100 });
  });

  test("is restored from once it was spared", async () => {
    await happens(`retention-${checkpointB}`, condemned, spared);
    await happens(allocation(1), crashed);
    expect(await lastRequest()).toMatchObject({ fromCheckpoint: checkpointB, fromStep: 200 });
  });

  test("is not restored from if it is condemned while the run is requested", async () => {
    await happens(allocation(1), crashed);
    expect(await lastRequest()).toMatchObject({ fromCheckpoint: checkpointB });
    // The service has not read the condemnation when it decides; the guard refuses the commit.
    await happens(allocation(2), allocationStarted);
    await stage.tell(allocation(2), crashed);
    await stage.tell(`retention-${checkpointB}`, condemned);
    await stage.settle();
    expect(await lastRequest()).toMatchObject({ run: 3, fromCheckpoint: checkpointA });
  });

  test("that was the last one left makes the run start without a checkpoint", async () => {
    await happens(`retention-${checkpointB}`, condemned);
    await happens(`retention-${checkpointA}`, condemned);
    await happens(allocation(1), crashed);
    expect(await lastRequest()).toMatchObject({ fromCheckpoint: "", fromStep: 0 });
  });

  test("fails the trial that must start from it", async () => {
    await happens(experiment, paused);
    await happens(search, trialProposed(2, 1));
    await happens(`retention-${checkpointB}`, condemned);
    await happens(experiment, activated);
    expect((await stage.stream("trial-12.2")).at(-1)).toMatchObject({
      type: "TrialEnded",
      data: { outcome: TrialOutcome.FAILED },
    });
  });
});
