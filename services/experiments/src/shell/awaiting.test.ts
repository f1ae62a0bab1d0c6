/** The times until which trials wait for checkpoints: folded, saved, and acted on by whoever holds the lease then. */
import { createMemoryLog } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { Stage } from "@trainyard/runtime/stage";
import { ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { beforeEach, expect, test } from "vitest";
import {
  activated,
  allocationStarted,
  checkpointA,
  crashed,
  experimentCreated,
  finished,
  trialProposed,
} from "../core/examples.ts";
import { limits } from "../limits.ts";
import { Awaiting, awaitingSchema, awaitingStream, savedAwaiting } from "./awaiting.ts";
import { awaitingCheck } from "./awaiting-check.ts";
import { reactionHandlers } from "./reactions.ts";
import { noFanOuts, waitsBy } from "./test-fan-outs.ts";

let clock: ManualClock;
let stage: Stage;
const logger = pino({ enabled: false });
const sealed = { checkpoints: [{ checkpoint: checkpointA, step: 10, bytes: 0 }] };

beforeEach(async () => {
  clock = new ManualClock();
  stage = new Stage(
    "experiments",
    () => reactionHandlers(waitsBy(clock), noFanOuts),
    createMemoryLog({ clock }).as("experiments"),
  );
  await stage.tell("experiment-12", experimentCreated(), activated);
  await stage.tell("search-12", trialProposed());
  await stage.tell("allocation-12.1#1", allocationStarted);
  await stage.settle();
});

const open = (host: Clock = clock) =>
  Awaiting.open({ log: stage.log, executor: stage.executor, clock: host, logger });
const requests = async () =>
  (await stage.names("trial-12.1")).filter((name) => name === "RunRequested").length;

async function fails(): Promise<void> {
  const data = { ...crashed.data, sealed };
  await stage.tell("allocation-12.1#1", { type: "AllocationEnded", data });
  await stage.settle();
}

/** Lets the loop of a holder run until nothing is due any more. */
async function holding(ms: number, host: Clock = clock): Promise<void> {
  const stop = new AbortController();
  const awaiting = await open(host);
  const running = awaiting.loop.run(stop.signal);
  await clock.advance(ms);
  stop.abort();
  await clock.advance(0);
  await running;
}

test("a run that nobody brings the checkpoint for is requested when its time has come, by the next holder too", async () => {
  await open();
  await fails();
  await holding(limits.checkpointsWaitMs - 1);
  expect(await requests()).toBe(1);
  stage.afresh();
  // By the newest event the next holder sees how much of the time is over.
  await stage.tell("experiment-13", experimentCreated());
  await holding(2);
  expect(await requests()).toBe(2);
  expect((await stage.stream("trial-12.1")).at(-1)).toMatchObject({
    data: { run: 2, fromCheckpoint: "" },
  });
});

test.each([-26, -1, 1, 26])(
  "a run waits as long on a host whose clock is %d hours beside the log's",
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

test("a trial that has finished waits for nothing", async () => {
  await open();
  const data = { ...finished.data, sealed };
  await stage.tell("allocation-12.1#1", { type: "AllocationEnded", data });
  await stage.settle();
  expect((await stage.names("trial-12.1")).at(-1)).toBe("TrialEnded");
  await holding(limits.checkpointsWaitMs + 1);
  expect(await requests()).toBe(1);
});

test("what is saved is what the log folds to, and an altered one is found", async () => {
  await open();
  const before = await savedAwaiting(stage.log);
  await fails();
  const awaiting = await open();
  for (const stored of await stage.log.readAll(0, 1_000)) awaiting.observe(stored);
  expect(await savedAwaiting(stage.log)).toEqual(before);
  await awaiting.save();
  const saved = await savedAwaiting(stage.log);
  expect(Object.keys(saved?.untilMs ?? {})).toEqual(["12.1"]);
  expect((await awaitingCheck(stage.log).run(new AbortController().signal)).finding).toBe("");
  const altered = JSON.stringify({ ...saved, untilMs: {} });
  await stage.log.saveSnapshot(awaitingStream, 1_000_000, awaitingSchema, altered);
  const { finding } = await awaitingCheck(stage.log).run(new AbortController().signal);
  expect(finding).toContain("folded afresh");
});

test("a run waits for a checkpoint that is complete before the trial's stream has it", async () => {
  const data = { ...crashed.data, sealed };
  await stage.tell("allocation-12.1#1", { type: "AllocationEnded", data });
  const completed = { manifestDigest: "d", files: 1, bytes: 1, trial: "12.1", run: 1, step: 10 };
  await stage.tell(`checkpoint-${checkpointA}`, { type: "CheckpointCompleted", data: completed });
  await stage.settle();
  expect((await stage.stream("trial-12.1")).at(-1)).toMatchObject({
    data: { run: 2, fromCheckpoint: checkpointA, fromStep: 10 },
  });
});
