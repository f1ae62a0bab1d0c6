/** The hazards of the conversations, each by name: what others' events, in awkward orders, make of a trial. */
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
} from "../core/examples.ts";
import { reactionHandlers } from "./reactions.ts";
import { noFanOuts, waitsBy } from "./test-fan-outs.ts";

let stage: Stage;
/** How far the clock of the service is ahead of the events. */
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

/** The end of the trial's stream, as names. */
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

describe("the main line", () => {
  test("a proposed trial is created, queued, started, finished, and ends the experiment", async () => {
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

  test("an experiment created paused creates its trials, and runs them when it is activated", async () => {
    await happens(experiment, experimentCreated());
    await happens(search, trialProposed());
    expect(await stage.names(trial)).toEqual(["TrialCreated"]);
    await happens(experiment, activated);
    expect(await last(1)).toEqual(["RunRequested"]);
  });

  test("a failed run restarts from the latest checkpoint, until its restarts are used up", async () => {
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
      data: { reason: "trial 12.1: run 2: ValueError: boom (after 1 restarts)" },
    });
  });

  test("a restart right after a checkpoint completed sees it", async () => {
    await runningTrial();
    await stage.tell(`checkpoint-${checkpointA}`, checkpointCompleted(1, 100));
    await stage.tell(allocation(1), crashed);
    await stage.settle();
    expect(await lastRequest()).toMatchObject({ run: 2, fromCheckpoint: checkpointA });
  });

  test("a trial that starts from another's checkpoint names it in its first run, and what spoke for it", async () => {
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

describe("hazards", () => {
  test("a stop decided while the run is queued", async () => {
    await queuedTrial();
    await happens(search, trialStopDecided);
    expect(await last(1)).toEqual(["RunStopRequested"]);
    await happens(allocation(1), withdrawn);
    expect(await last(2)).toEqual(["RunEnded", "TrialEnded"]);
    expect(await lastOutcome()).toBe(TrialOutcome.STOPPED_EARLY);
  });

  test("a suspend that crosses a preemption: the run had ended", async () => {
    await runningTrial();
    await stage.tell(allocation(1), acknowledged);
    await stage.tell(search, trialSuspended);
    await stage.settle();
    // Whether the suspension was seen with the end or after it, the trial holds no slots and is not ended.
    if ((await last(1))[0] !== "RunEnded") await happens(allocation(2), withdrawn);
    expect(await last(1)).toEqual(["RunEnded"]);
    await happens(search, trialResumed);
    expect(await last(1)).toEqual(["RunRequested"]);
  });

  test("a suspend that crosses a preemption: the next run was queued already", async () => {
    await runningTrial();
    await happens(allocation(1), acknowledged);
    await happens(search, trialSuspended);
    expect(await last(2)).toEqual(["RunRequested", "RunStopRequested"]);
    await happens(allocation(2), withdrawn);
    expect(await last(1)).toEqual(["RunEnded"]);
  });

  test("a resume while the old run winds down", async () => {
    await runningTrial();
    await happens(search, trialSuspended);
    await happens(search, trialResumed);
    expect(await last(1)).toEqual(["RunStopRequested"]);
    await happens(allocation(1), acknowledged);
    expect(await last(2)).toEqual(["RunEnded", "RunRequested"]);
  });

  test("a non-zero exit during a suspend is a failure, and waits for the resume", async () => {
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

  test("a trial that finishes while its stop is on the way has completed", async () => {
    await runningTrial();
    await happens(search, trialStopDecided);
    await happens(allocation(1), finished);
    expect(await lastOutcome()).toBe(TrialOutcome.COMPLETED);
  });

  test("a stop that finds the trial finished changes nothing", async () => {
    await runningTrial();
    await stage.tell(allocation(1), finished);
    await stage.tell(search, trialStopDecided);
    await stage.settle();
    expect((await stage.names(trial)).filter((name) => name === "TrialEnded")).toHaveLength(1);
  });

  test("pause and activate in quick turn: the run that was asked to stop ends, and another follows", async () => {
    await runningTrial();
    await stage.tell(experiment, paused, activated, paused, activated);
    await stage.settle();
    const stops = (await stage.names(trial)).filter((name) => name === "RunStopRequested");
    expect(stops.length).toBeLessThanOrEqual(1);
    await happens(allocation(1), acknowledged);
    expect(await last(2)).toEqual(["RunEnded", "RunRequested"]);
  });

  test("pause and activate, each seen by itself", async () => {
    await runningTrial();
    await happens(experiment, paused);
    await happens(experiment, activated);
    expect(await last(1)).toEqual(["RunStopRequested"]);
    await happens(experiment, paused);
    await happens(allocation(1), acknowledged);
    expect(await last(1)).toEqual(["RunEnded"]);
    await happens(experiment, activated);
    expect(await last(1)).toEqual(["RunRequested"]);
  });

  test("an agent that returns with a run that was given up changes nothing of the trial", async () => {
    await runningTrial();
    await happens(allocation(1), agentLost);
    expect(await last(2)).toEqual(["RunEnded", "RunRequested"]);
    const before = await stage.names(trial);
    await happens(allocation(1), finished);
    await happens(`checkpoint-${checkpointA}`, checkpointCompleted(1, 500));
    expect(await stage.names(trial)).toEqual(before);
  });

  test("a search that completes while a trial restarts", async () => {
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

  test("a search that completes before its last proposal was reached", async () => {
    await happens(experiment, experimentCreated(), activated);
    await stage.tell(search, trialProposed(), {
      type: "SearchCompleted",
      data: { reason: SearchCompletion.EXHAUSTED },
    });
    await stage.settle();
    expect(await stage.names(trial)).toEqual(["TrialCreated", "RunRequested"]);
    expect(await endOf()).toBeNull();
  });

  test("an experiment killed before its first trial exists", async () => {
    await stage.tell(experiment, experimentCreated(), activated, stopRequested(StopKind.KILL));
    await stage.settle();
    expect(await endOf()).toBe(ExperimentOutcome.CANCELED);
    await happens(search, trialProposed());
    expect(await stage.names(trial)).toEqual([]);
  });

  test("an experiment killed while its first trial is proposed", async () => {
    await stage.tell(experiment, experimentCreated(), activated);
    await stage.tell(search, trialProposed());
    await stage.tell(experiment, stopRequested(StopKind.KILL));
    await stage.settle();
    expect(await stage.names(trial)).toEqual([]);
    expect(await endOf()).toBe(ExperimentOutcome.CANCELED);
  });

  test("a kill between TrialProposed and its RunRequested", async () => {
    await happens(experiment, experimentCreated(), activated);
    await stage.tell(search, trialProposed());
    // The holder dies before its commit, and again after it, before its cursor was seen to move.
    stage.afresh();
    await stage.settle();
    stage.afresh();
    await stage.settle();
    expect(await stage.names(trial)).toEqual(["TrialCreated", "RunRequested"]);
  });

  test("a kill of a canceled experiment is the more severe stop", async () => {
    await runningTrial();
    await happens(experiment, stopRequested(StopKind.CANCEL));
    await happens(experiment, stopRequested(StopKind.KILL));
    expect(await last(2)).toEqual(["RunStopRequested", "RunStopRequested"]);
    await happens(allocation(1), killed);
    expect(await lastOutcome()).toBe(TrialOutcome.CANCELED);
    expect(await endOf()).toBe(ExperimentOutcome.CANCELED);
  });

  test("an experiment ends with its last trial only", async () => {
    await runningTrial();
    await happens(search, trialProposed(2));
    await happens(experiment, stopRequested());
    await happens(allocation(1), acknowledged);
    expect(await endOf()).toBeNull();
    await happens("allocation-12.2#1", withdrawn);
    expect(await endOf()).toBe(ExperimentOutcome.CANCELED);
  });

  test("a trial that the search stopped and that does not exit is killed, and counts as stopped early", async () => {
    await runningTrial();
    await happens(search, trialStopDecided);
    await happens(allocation(1), killed);
    expect(await lastOutcome()).toBe(TrialOutcome.STOPPED_EARLY);
  });
});

describe("a checkpoint that is condemned", () => {
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

  test("is not restored from: the one before is", async () => {
    await happens(`retention-${checkpointB}`, condemned);
    await happens(allocation(1), crashed);
    expect(await lastRequest()).toMatchObject({ fromCheckpoint: checkpointA, fromStep: 100 });
  });

  test("is restored from once it was spared", async () => {
    await happens(`retention-${checkpointB}`, condemned, spared);
    await happens(allocation(1), crashed);
    expect(await lastRequest()).toMatchObject({ fromCheckpoint: checkpointB, fromStep: 200 });
  });

  test("while its run is queued: the request refers to it, and was proven against its stream", async () => {
    await happens(allocation(1), crashed);
    expect(await lastRequest()).toMatchObject({ fromCheckpoint: checkpointB });
    // Condemned behind this service's back, before it has seen so: the guard finds out at the commit.
    await happens(allocation(2), allocationStarted);
    await stage.tell(allocation(2), crashed);
    await stage.tell(`retention-${checkpointB}`, condemned);
    await stage.settle();
    expect(await lastRequest()).toMatchObject({ run: 3, fromCheckpoint: checkpointA });
  });

  test("with no other left, the run starts from nothing", async () => {
    await happens(`retention-${checkpointB}`, condemned);
    await happens(`retention-${checkpointA}`, condemned);
    await happens(allocation(1), crashed);
    expect(await lastRequest()).toMatchObject({ fromCheckpoint: "", fromStep: 0 });
  });

  test("before the trial that has to start from it: that trial fails", async () => {
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
