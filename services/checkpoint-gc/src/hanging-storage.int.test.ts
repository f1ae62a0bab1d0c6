/** Tests of a storage whose mount hangs: a call of the file system then returns when its server is back. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { directoryDisk, markStorage } from "@trainyard/blob";
import { systemClock } from "@trainyard/kernel/system-clock";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { gcLimits } from "./limits.ts";
import { soon, TestGc } from "./testing/test-gc.ts";

let gc: TestGc;

beforeAll(async () => {
  gc = await TestGc.open();
});
afterEach(() => gc.stop());
afterAll(() => gc[Symbol.asyncDispose]());

const deleted = ["CheckpointCondemned", "CheckpointDeletionStarted", "CheckpointDeleted"];

test("a storage whose mount hangs delays no deletion in another storage", async () => {
  const root = join(gc.root, "hanging");
  await mkdir(root);
  const hanging = { root, storageId: await markStorage(root), firstDigit: "0" };
  const { experiment } = await gc.trained([0, 0, 0], [1], [], hanging);
  const other = await gc.trained([0, 0, 0], [1]);
  let answer: () => void = () => {};
  const forever = new Promise<void>((resolve) => {
    answer = resolve;
  });
  // A hard NFS mount whose server is away blocks each call until the server is back.
  const disk = {
    ...directoryDisk,
    seen: async (path: string) => {
      if (path === root) await forever;
      return directoryDisk.seen(path);
    },
  };
  await gc.endExperiment(experiment);
  await gc.endExperiment(other.experiment);
  await gc.start(0, { disk });
  try {
    await vi.waitFor(
      async () => expect(await gc.retention(other.checkpoints[0] ?? "")).toEqual(deleted),
      { timeout: 20_000, interval: 200 },
    );
  } finally {
    answer();
  }
});

test("a service stops while a mount hangs, and the deletion that waits says why", async () => {
  const root = join(gc.root, "stopping");
  await mkdir(root);
  const hanging = { root, storageId: await markStorage(root) };
  const { experiment, checkpoints } = await gc.trained([0, 0, 0], [1, 2], [], hanging);
  let calls = 0;
  const disk = {
    ...directoryDisk,
    seen: (path: string) => {
      if (path !== root) return directoryDisk.seen(path);
      calls += 1;
      return new Promise<never>(() => {});
    },
  };
  await gc.endExperiment(experiment);
  await gc.start(0, { disk });
  const [first, second] = checkpoints;
  const text = "select why, tries from checkpoint_gc.retries where checkpoint = any($1)";
  await vi.waitFor(async () => {
    const rows = await gc.stage.sql<{ why: string; tries: number }>(text, [[first, second]]);
    expect(rows.length).toBe(2);
    for (const { why, tries } of rows) {
      expect(why).toContain(root);
      expect(tries).toBeGreaterThan(1);
    }
  }, soon);
  // Each further call would hang, too, and occupy a process.
  expect(calls).toBe(1);
  await gc.stop();
  expect(await gc.retention(first ?? "")).toEqual(["CheckpointCondemned"]);
});

test("a service that waits for a mount that hangs stops before the wait is over", async () => {
  const root = join(gc.root, "asked");
  await mkdir(root);
  const hanging = { root, storageId: await markStorage(root) };
  const { experiment } = await gc.trained([0, 0, 0], [1], [], hanging);
  const asked = Promise.withResolvers<void>();
  const clock = {
    ...systemClock,
    // The time of a call is never over, so that only the stop ends it.
    timer: (ms: number, callback: () => void) =>
      systemClock.timer(ms === gcLimits.seenMs ? 2 ** 31 - 1 : ms, callback),
  };
  const seen = (path: string): ReturnType<typeof directoryDisk.seen> => {
    if (path !== root) return directoryDisk.seen(path);
    asked.resolve();
    return new Promise<never>(() => {});
  };
  await gc.endExperiment(experiment);
  await gc.start(0, { clock, disk: { ...directoryDisk, seen } });
  await asked.promise;
  await expect(gc.stop()).resolves.toBeUndefined();
});
