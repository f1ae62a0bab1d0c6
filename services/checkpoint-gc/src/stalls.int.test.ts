/** Tests of states in which the deletion loop has nothing to do, or waits for a removal. */
import { randomUUID } from "node:crypto";
import { rename } from "node:fs/promises";
import { directoryDisk, type StorageDisk } from "@trainyard/blob";
import { createPostgresLog } from "@trainyard/event-log";
import { systemClock } from "@trainyard/kernel/system-clock";
import { decodeReply, encodeRequest } from "@trainyard/runtime";
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

const becomes = (checkpoint: string | undefined, expected: readonly string[]) =>
  vi.waitFor(async () => expect(await gc.retention(checkpoint ?? "")).toEqual(expected), soon);

async function triesOf(checkpoint: string): Promise<number> {
  const text = "select tries from checkpoint_gc.retries where checkpoint = $1";
  const [row] = await gc.stage.sql<{ tries: number }>(text, [checkpoint]);
  return row?.tries ?? 0;
}

async function remove(checkpoint: string, ...globs: readonly string[]): Promise<void> {
  const bus = gc.stage.hub.connect("gateway");
  const headers = {
    commitId: randomUUID(),
    authid: "user:ada",
    traceparent: "",
    correlationid: "",
  };
  const body = encodeRequest("checkpoint-gc", "DeleteCheckpoint", {
    checkpoint,
    reason: "",
    globs: [...globs],
  });
  const reply = await bus.request("checkpoint-gc", "DeleteCheckpoint", { headers, body }, 30_000);
  if (reply.kind !== "ok") throw new Error(JSON.stringify(reply));
  decodeReply("checkpoint-gc", "DeleteCheckpoint", reply.body);
}

test("a checkpoint that was deleted before the files that a person had named does not keep the loop busy", async () => {
  const { TRAINYARD_POSTGRES_URL: connectionString = "" } = gc.stage.variables;
  await using log = createPostgresLog({ connectionString });
  let looks = 0;
  const counting = new Proxy(log, {
    get(target, name) {
      if (name === "head") looks += 1;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  await gc.start(0, { log: counting });
  const { checkpoints } = await gc.trained([9, 9, 9], [1]);
  const [checkpoint = ""] = checkpoints;
  await gc.settled();
  await rename(gc.root, `${gc.root}.away`);
  await remove(checkpoint, "deep/**");
  await vi.waitFor(async () => expect(await triesOf(checkpoint)).toBeGreaterThan(0), soon);
  await remove(checkpoint);
  await rename(`${gc.root}.away`, gc.root);
  await becomes(checkpoint, ["CheckpointFilesDeletionStarted", ...deleted]);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const before = looks;
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(looks - before).toBeLessThan(10);
  await gc.stop();
});

test("the files of a removal that outlasts its limit are counted once, when it has ended", async () => {
  const held = Promise.withResolvers<void>();
  const removeFiles: StorageDisk["removeFiles"] = async (root, below, globs) => {
    const removed = await directoryDisk.removeFiles(root, below, globs);
    await held.promise;
    return removed;
  };
  const clock = {
    ...systemClock,
    timer: (ms: number, callback: () => void) =>
      systemClock.timer(ms === gcLimits.removeMs ? 10 : ms, callback),
  };
  await gc.start(0, { clock, disk: { ...directoryDisk, removeFiles } });
  const { checkpoints } = await gc.trained([9, 9, 9], [1]);
  const [checkpoint = ""] = checkpoints;
  await gc.settled();
  await remove(checkpoint, "deep/**");
  await vi.waitFor(async () => expect(await triesOf(checkpoint)).toBeGreaterThan(1), soon);
  held.resolve();
  await becomes(checkpoint, ["CheckpointFilesDeletionStarted", "CheckpointFilesDeleted"]);
  const [, deletion] = await gc.stage.events(`retention-${checkpoint}`);
  expect(deletion?.data).toMatchObject({ files: 1, bytes: 3 });
});
