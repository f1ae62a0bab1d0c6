/** Tests of the waits of trials for checkpoints: folded from the log, saved, and ended by the leader. */
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import type { Clock } from "@trainyard/kernel";
import { emptyMeta, foldOfDues, savedLogFold } from "@trainyard/runtime";
import { Stage } from "@trainyard/runtime/stage";
import { ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { beforeEach, expect, test } from "vitest";
import { limits } from "../limits.ts";
import {
  activated,
  allocationStarted,
  checkpointA,
  crashed,
  experimentCreated,
  finished,
  runCheckpointsNamed,
  trialProposed,
} from "../testing/examples.ts";
import { defaultDelays, noFanOuts, waitsBy } from "../testing/small-fan-outs.ts";
import { Awaiting, awaitingCheck, awaitingFold } from "./awaiting.ts";
import { reactionHandlers } from "./reactions.ts";

let clock: ManualClock;
let stage: Stage;
const logger = pino({ enabled: false });
const sealed = { checkpoints: [{ checkpoint: checkpointA, step: 10, bytes: 0 }] };

beforeEach(async () => {
  clock = new ManualClock();
  await begin(clock);
});

async function begin(ofLog: ManualClock): Promise<void> {
  stage = new Stage(
    "experiments",
    () => reactionHandlers(waitsBy(clock), noFanOuts),
    createMemoryLog({ clock: ofLog }).as("experiments"),
  );
  await stage.tell("experiment-12", experimentCreated(), activated);
  await stage.tell("search-12", trialProposed());
  await stage.tell("allocation-12.1#1", allocationStarted);
  await stage.settle();
}

const { stream, schema } = awaitingFold;
const saved = () => savedLogFold({ log: stage.log, logger }, foldOfDues(awaitingFold));
const open = (host: Clock = clock) => {
  const { log, executor } = stage;
  const delays = defaultDelays;
  return Awaiting.open({ log, executor, clock: host, logger, delays, onParked() {} });
};
const requests = async (trial = "12.1") =>
  (await stage.names(`trial-${trial}`)).filter((name) => name === "RunRequested").length;

async function fails(trial = "12.1"): Promise<void> {
  const data = { ...crashed.data, sealed };
  await stage.tell(`allocation-${trial}#1`, { type: "AllocationEnded", data });
  await stage.settle();
}

/** Runs the leader's loop until nothing is due. */
async function holding(ms: number, host: Clock = clock): Promise<void> {
  const stop = new AbortController();
  const awaiting = await open(host);
  const running = awaiting.dues.loop.run(stop.signal);
  await clock.advance(ms);
  stop.abort();
  await clock.advance(0);
  await running;
}

test("a run whose missing checkpoint never arrives is requested when the wait is over, also by the next leader", async () => {
  await open();
  await fails();
  await holding(limits.checkpointsWaitMs - 1);
  expect(await requests()).toBe(1);
  stage.afresh();
  // The time of the newest event shows the next leader which part of the wait is over.
  await stage.tell("experiment-13", experimentCreated());
  await holding(2);
  expect(await requests()).toBe(2);
  expect((await stage.stream("trial-12.1")).at(-1)).toMatchObject({
    data: { run: 2, fromCheckpoint: "" },
  });
});

test("a run waits for an upload for as long as it makes progress", async () => {
  await stage.tell(`checkpoint-${checkpointA}`, {
    type: "CheckpointDeclared",
    data: { trial: "12.1", run: 1, step: 10, format: "" },
  });
  await fails();
  const half = limits.checkpointsWaitMs / 2;
  await clock.advance(half);
  await stage.tell(`checkpoint-${checkpointA}`, {
    type: "CheckpointUploadProgressed",
    data: { trial: "12.1", run: 1 },
  });
  await stage.settle();
  await holding(limits.checkpointsWaitMs - 1);
  expect(await requests()).toBe(1);
  await stage.tell("experiment-13", experimentCreated());
  await holding(2);
  expect(await requests()).toBe(2);
});

test.each([-26, -1, 1, 26])(
  "a run waits equally long on a host whose clock is %d hours off the log's",
  async (hours) => {
    await open();
    await fails();
    const wall = { nowMs: () => clock.nowMs() + hours * 3_600_000 };
    const host: Clock = {
      ...wall,
      monotonicMs: () => clock.monotonicMs(),
      timer: (ms, callback) => clock.timer(ms, callback),
    };
    await holding(limits.checkpointsWaitMs - 1, host);
    expect(await requests()).toBe(1);
    await stage.tell("experiment-13", experimentCreated());
    await holding(2, host);
    expect(await requests()).toBe(2);
  },
);

test("a trial that has finished waits for no checkpoint", async () => {
  await open();
  const data = { ...finished.data, sealed };
  await stage.tell("allocation-12.1#1", { type: "AllocationEnded", data });
  await stage.settle();
  expect((await stage.names("trial-12.1")).at(-1)).toBe("TrialEnded");
  await holding(limits.checkpointsWaitMs + 1);
  expect(await requests()).toBe(1);
});

test("the saved fold equals a fold of the log, and the check detects an altered one", async () => {
  await open();
  const before = await saved();
  await fails();
  const awaiting = await open();
  for (const stored of await stage.log.readAll(0, 1_000)) awaiting.dues.observe(stored);
  expect(await saved()).toEqual(before);
  await awaiting.dues.save();
  const last = await saved();
  expect(Object.keys(last?.entries ?? {})).toEqual(["12.1"]);
  expect((await awaitingCheck(stage.log, logger).run(new AbortController().signal)).finding).toBe(
    "",
  );
  const altered = JSON.stringify({ ...last, entries: {} });
  await stage.log.saveSnapshot(stream, 0, schema, altered);
  const { finding } = await awaitingCheck(stage.log, logger).run(new AbortController().signal);
  expect(finding).toContain("but a rebuild has");
});

test("a run waits for a checkpoint that completed before the trial's stream records it", async () => {
  const data = { ...crashed.data, sealed };
  await stage.tell("allocation-12.1#1", { type: "AllocationEnded", data });
  const completed = { manifestDigest: "d", files: 1, bytes: 1, trial: "12.1", run: 1, step: 10 };
  await stage.tell(`checkpoint-${checkpointA}`, { type: "CheckpointCompleted", data: completed });
  await stage.settle();
  expect((await stage.stream("trial-12.1")).at(-1)).toMatchObject({
    data: { run: 2, fromCheckpoint: checkpointA, fromStep: 10 },
  });
});

test("a trial that cannot be folded delays no other trial that waits", async () => {
  await open();
  await stage.tell("search-12", trialProposed(2));
  await stage.settle();
  await fails("12.1");
  await fails("12.2");
  const alien = { id: newEventId(), type: "dev.trainyard.trial.Sang.v1", body: "{}" };
  const { length } = await stage.stream("trial-12.1");
  const appended = await stage.log.append({
    commitId: newEventId(),
    writes: [{ stream: "trial-12.1", expectedVersion: length, events: [alien] }],
    guards: [],
    meta: emptyMeta,
  });
  expect(appended.kind).toBe("committed");
  stage.afresh();
  await holding(limits.checkpointsWaitMs + 1);
  expect(await requests("12.2")).toBe(2);
  const [parked, ...others] = await stage.log.parked("experiments");
  expect([parked?.key, others]).toEqual(["12", []]);
  expect(parked?.reason).toContain("awaiting: ");
});

test("a saved fold of another history is dropped, and the log is folded from its beginning", async () => {
  await open();
  await fails();
  const { length } = await stage.log.readAll(0, 1_000);
  // A process that has not noticed the restore of the log has saved this fold into it.
  const text = JSON.stringify({ event: newEventId(), position: length, entries: {} });
  await stage.log.saveSnapshot(stream, 0, schema, text);
  stage.afresh();
  await holding(limits.checkpointsWaitMs + 1);
  expect(await requests()).toBe(2);
});

test("a saved fold of another history that is ahead of this log is replaced", async () => {
  const { length } = await stage.log.readAll(0, 1_000);
  const entries = { "9.1": { dueMs: 1, cause: 1 } };
  const further = { event: newEventId(), position: length + 1_000, entries };
  await stage.log.saveSnapshot(stream, 0, schema, JSON.stringify(further));
  await open();
  expect(await saved()).toMatchObject({ position: length, entries: {} });
});

test("a trial that has waited since before the first save is requested too", async () => {
  await fails();
  // The trial's events are not the newest of the log.
  await stage.tell("experiment-13", experimentCreated());
  expect(await saved()).toBeNull();
  await holding(limits.checkpointsWaitMs + 1);
  expect(await requests()).toBe(2);
});

test("an ended trial whose older record has a wait is dropped, and the check agrees", async () => {
  const data = { ...finished.data, sealed };
  await stage.tell("allocation-12.1#1", { type: "AllocationEnded", data });
  await stage.settle();
  const untilMs = clock.nowMs() + limits.checkpointsWaitMs;
  await stage.tell("trial-12.1", runCheckpointsNamed(1, sealed.checkpoints, untilMs));
  const awaiting = await open();
  expect(Object.keys((await saved())?.entries ?? {})).toEqual(["12.1"]);
  const stop = new AbortController();
  const running = awaiting.dues.loop.run(stop.signal);
  await clock.advance(limits.checkpointsWaitMs + 1);
  stop.abort();
  await clock.advance(0);
  await running;
  await awaiting.dues.save();
  expect((await saved())?.entries).toEqual({});
  const { finding } = await awaitingCheck(stage.log, logger).run(new AbortController().signal);
  expect(finding).toBe("");
});

test("a log whose clock is ahead makes no run wait longer", async () => {
  const ahead = new ManualClock(clock.nowMs() + 365 * 24 * 60 * 60 * 1_000);
  await begin(ahead);
  await open();
  await fails();
  await holding(limits.checkpointsWaitMs + 1);
  expect(await requests()).toBe(2);
});
