/** The registry while a mount hangs: each call of the file system returns when the server of the mount is back. */
import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { markStorage, openDirectoryBlobStore, type ProcessDisk } from "@trainyard/blob";
import { openHangingDisk } from "@trainyard/blob/testing";
import { newEventId } from "@trainyard/event-log";
import { systemClock } from "@trainyard/kernel/system-clock";
import { encodeRequest } from "@trainyard/runtime";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { registryLimits } from "./limits.ts";
import { entry, experimentCreated, TestRegistry } from "./testing/test-registry.ts";

let registry: TestRegistry;
let disk: ProcessDisk;
let root = "";

beforeAll(async () => {
  registry = await TestRegistry.start();
  root = join(registry.folder, "hanging");
  await mkdir(root);
  await registry.stage.tell("experiment-7", experimentCreated(root));
  disk = openHangingDisk(systemClock);
  await registry.restart({ disk });
});
afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  disk[Symbol.dispose]();
});

/** Declares checkpoints below the root that hangs. */
async function declared(count: number) {
  const trial = await registry.newTrial("7");
  const storageId = await markStorage(root);
  return Promise.all(
    Array.from({ length: count }, async () => {
      const { checkpoint } = await registry.declareIn({ trial, storageId });
      return { checkpoint, trial };
    }),
  );
}

test("completions in a mount that hangs name it, and delay no other storage and no model code", async () => {
  const code = "packed code";
  const digest = createHash("sha256").update(code).digest("hex");
  const blobs = await openDirectoryBlobStore(join(registry.folder, "blobs"), systemClock);
  async function* content() {
    yield Buffer.from(code);
  }
  await blobs.put(`contexts/${digest}.tar.gz`, content(), digest);
  const bus = registry.stage.hub.connect("test");
  const completion = ({ checkpoint, trial }: { checkpoint: string; trial: string }) => {
    const message = { checkpoint, trial, run: 1, manifest: [entry("weights", "w")] };
    const body = encodeRequest("registry", "CompleteCheckpoint", message);
    const headers = { commitId: newEventId(), authid: "", traceparent: "", correlationid: "" };
    return bus.request("registry", "CompleteCheckpoint", { headers, body }, 10_000);
  };
  // The declarations look at the mount, too.
  const hanging = declared(4).then((all) => Promise.all(all.map(completion)));
  let isAnswered = false;
  void hanging.finally(() => (isAnswered = true));
  const plan = await registry.stage.ask("registry", "PlanContextDownload", { digest });
  if (plan.kind !== "ok") throw new Error("no plan");
  expect(await (await fetch(plan.reply.url)).text()).toBe(code);
  await vi.waitFor(async () => {
    const { answer } = await registry.stored(await registry.newTrial());
    expect(answer).toMatchObject({ kind: "ok" });
  }, 9_000);
  expect(isAnswered).toBe(false);
  for (const answer of await hanging) {
    expect(answer).toMatchObject({ kind: "unavailable", detail: expect.stringContaining(root) });
  }
  // The brake answers later callers without a call.
  const started = performance.now();
  const [one] = await declared(1);
  const again = await registry.complete(one?.checkpoint ?? "", one?.trial ?? "", []);
  expect(again.kind).not.toBe("ok");
  expect(performance.now() - started).toBeLessThan(registryLimits.seenMs);
});

test("failed checkpoints of a mount that hangs delay the clearing of no other storage", async () => {
  const [left] = await declared(1);
  if (left === undefined) throw new Error("it was declared");
  const other = await registry.newTrial();
  const { checkpoint } = await registry.declare(other);
  await registry.write(checkpoint, { weights: "w" });
  for (const failed of [left, { checkpoint, trial: other }]) {
    const message = { ...failed, run: 1, reason: "given up" };
    await registry.stage.ask("registry", "FailCheckpoint", message);
  }
  await vi.waitFor(() => expect(registry.has(checkpoint)).toBe(false), 30_000);
});

test("an audit reports a mount that hangs, and compares the other storages", async () => {
  await declared(1);
  const message = { root: "", reason: "" };
  const answer = await registry.stage.ask("registry", "AuditStorage", message);
  if (answer.kind !== "ok") throw new Error(JSON.stringify(answer));
  const problemOf = (at: string) => answer.reply.roots.find((one) => one.root === at)?.problem;
  expect(problemOf(root)).toContain("cannot be used now");
  expect(problemOf(registry.storage)).toBe("");
});
