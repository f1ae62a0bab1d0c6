/** Tests of the graces of deletions, and of undos before their end. */
import { ExperimentOutcome } from "@trainyard/contracts/events";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { type DueFold, runtimeLimits } from "@trainyard/runtime";
import type { Clock } from "@trainyard/kernel";
import { Stage } from "@trainyard/runtime/stage";
import { ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { activated, experimentCreated } from "../testing/examples.ts";
import { openDeletions } from "./deletions.ts";
import { experiments } from "../streams.ts";

const logger = pino({ enabled: false });
const ended = {
  type: "ExperimentEnded",
  data: { outcome: ExperimentOutcome.COMPLETED, reason: "" },
} as const;
const requested = (graceEndMs: number) =>
  ({ type: "ExperimentDeletionRequested", data: { graceEndMs, reason: "" } }) as const;
const undone = { type: "ExperimentDeletionUndone", data: {} } as const;

/** Why deletions are held; null if they are not. */
let held: string | null;
const hold = { reason: async () => held };

let stage: Stage;
let clock: ManualClock;
let abort: AbortController;

beforeEach(async () => {
  clock = new ManualClock();
  const log = createMemoryLog({ clock: { nowMs: () => clock.nowMs() } });
  stage = new Stage("experiments", () => ({}), log.as("experiments"));
  held = null;
  abort = new AbortController();
  await stage.tell("experiment-12", experimentCreated(), activated, ended);
});
afterEach(() => abort.abort());

const open = (host: Clock = clock) => {
  const { log, executor } = stage;
  const deletionGraceMs = 10_000;
  const onParked = () => {};
  return openDeletions({ log, executor, clock: host, logger, hold, deletionGraceMs, onParked });
};

async function begun(host: Clock = clock): Promise<DueFold> {
  const deletions = await open(host);
  void deletions.loop.run(abort.signal);
  return deletions;
}

async function passes(deletions: DueFold): Promise<void> {
  for (const stored of await stage.log.readAll(0, 100_000)) deletions.observe(stored);
}

const last = async (): Promise<string | undefined> => (await stage.names("experiment-12")).at(-1);

test("an experiment is deleted for good when its grace is over, not before", async () => {
  const deletions = await begun();
  await stage.tell("experiment-12", requested(clock.nowMs() + 10_000));
  await passes(deletions);
  await clock.advance(9_000);
  expect(await last()).toBe("ExperimentDeletionRequested");
  await clock.advance(1_100);
  await expect.poll(last).toBe("ExperimentDeleted");
});

test("an undone deletion is not completed, and the next deletion has a new grace", async () => {
  const deletions = await begun();
  await stage.tell("experiment-12", requested(clock.nowMs() + 10_000), undone);
  await passes(deletions);
  await clock.advance(20_000);
  expect(await last()).toBe("ExperimentDeletionUndone");
  await stage.tell("experiment-12", requested(clock.nowMs() + 10_000));
  await passes(deletions);
  await clock.advance(9_000);
  expect(await last()).toBe("ExperimentDeletionRequested");
});

test("a new leader finds the graces in the log or in the saved state", async () => {
  await stage.tell("experiment-12", requested(clock.nowMs() + 10_000));
  const many = Array.from({ length: runtimeLimits.foldSavedEveryEvents }, () => undone);
  for (let at = 0; at < many.length; at += 5_000) {
    await stage.tell("experiment-99", ...many.slice(at, at + 5_000));
  }
  await open();
  await expect
    .poll(() => stage.log.loadSnapshot("experiment-deletions", "experiment-deletions/2"))
    .not.toBeNull();
  await begun();
  await clock.advance(10_100);
  await expect.poll(last).toBe("ExperimentDeleted");
});

test("an undo before the end of the grace wins", async () => {
  await stage.tell("experiment-12", requested(clock.nowMs() + 10_000));
  const deletions = await begun();
  await clock.advance(9_999);
  const identity = { commitId: newEventId(), meta: { authid: "u1" } } as never;
  await stage.executor.execute(identity, async (work) => {
    await work.decide(experiments, "12", { kind: "undelete" });
  });
  await clock.advance(5_000);
  expect(await last()).toBe("ExperimentDeletionUndone");
  expect(deletions.loop).toBeDefined();
});

test("a deletion whose grace ended is not completed while deletions are held, and is once they are released", async () => {
  held = "the log went back";
  const deletions = await begun();
  await stage.tell("experiment-12", requested(clock.nowMs() + 10_000));
  await passes(deletions);
  await clock.advance(60_000);
  expect(await last()).toBe("ExperimentDeletionRequested");
  held = null;
  await clock.advance(runtimeLimits.heldLookMs);
  await expect.poll(last).toBe("ExperimentDeleted");
});

test.each([-8, 8])(
  "a host whose clock is %d days off the log's deletes nothing in its grace, and the rest after it",
  async (days) => {
    const offMs = days * 24 * 3_600_000;
    const host: Clock = {
      nowMs: () => clock.nowMs() + offMs,
      monotonicMs: () => clock.monotonicMs(),
      timer: (ms, callback) => clock.timer(ms, callback),
    };
    const deletions = await begun(host);
    await stage.tell("experiment-12", requested(clock.nowMs() + 10_000));
    await passes(deletions);
    await clock.advance(9_999);
    expect(await last()).toBe("ExperimentDeletionRequested");
    await clock.advance(1);
    expect(await last()).toBe("ExperimentDeleted");
  },
);

test("a deletion that was requested by a host whose clock is behind keeps its whole grace", async () => {
  const deletions = await begun();
  await stage.tell("experiment-12", requested(clock.nowMs() - 50_000));
  await passes(deletions);
  await clock.advance(9_999);
  expect(await last()).toBe("ExperimentDeletionRequested");
  await clock.advance(1);
  expect(await last()).toBe("ExperimentDeleted");
});

test("a deletion that is undone and requested again while the end of its first grace is decided has a new grace", async () => {
  const deletions = await begun();
  await stage.tell("experiment-12", requested(clock.nowMs() + 10_000));
  await passes(deletions);
  hold.reason = async () => {
    hold.reason = async () => held;
    await stage.tell("experiment-12", undone, requested(clock.nowMs() + 10_000));
    await passes(deletions);
    return null;
  };
  await clock.advance(10_000);
  expect(await last()).toBe("ExperimentDeletionRequested");
  await clock.advance(9_999);
  expect(await last()).toBe("ExperimentDeletionRequested");
  await clock.advance(1);
  expect(await last()).toBe("ExperimentDeleted");
});
