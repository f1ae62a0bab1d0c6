/** Tests of states in which the deletion loop has nothing to do. */
import { randomUUID } from "node:crypto";
import { rename } from "node:fs/promises";
import { DeleteCheckpointSchema, DeletionPlannedSchema } from "@trainyard/contracts/commands";
import { createPostgresLog } from "@trainyard/event-log";
import { decodeReply, encodeRequest, newTraceparent } from "@trainyard/runtime";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
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

async function remove(checkpoint: string, ...globs: readonly string[]): Promise<void> {
  const bus = gc.stage.hub.connect("gateway");
  const headers = {
    commitId: randomUUID(),
    authid: "user:ada",
    traceparent: newTraceparent(),
    correlationid: "",
  };
  const body = encodeRequest(DeleteCheckpointSchema, { checkpoint, reason: "", globs: [...globs] });
  const reply = await bus.request("checkpoint-gc", "DeleteCheckpoint", { headers, body }, 30_000);
  if (reply.kind !== "ok") throw new Error(JSON.stringify(reply));
  decodeReply(DeletionPlannedSchema, reply.body);
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
  await remove(checkpoint);
  await rename(`${gc.root}.away`, gc.root);
  await becomes(checkpoint, ["CheckpointFilesDeletionStarted", ...deleted]);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const before = looks;
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(looks - before).toBeLessThan(10);
  await gc.stop();
});
