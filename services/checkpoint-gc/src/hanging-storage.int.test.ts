/** Tests of a storage whose mount hangs: a call of the file system then returns when its server is back. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { directoryDisk, markStorage } from "@trainyard/blob";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { TestGc } from "./testing/test-gc.ts";

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
