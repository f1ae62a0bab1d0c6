/** Tests of the hold on deletions after the log went back. */
import { randomUUID } from "node:crypto";
import { markStorage, writeStorageMarker } from "@trainyard/blob";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { runEnded, TestRegistry } from "./testing/test-registry.ts";

const holdStream = "hold-deletions";
const soon = { timeout: 90_000, interval: 50 };

let registry: TestRegistry;

beforeAll(async () => {
  registry = await TestRegistry.start();
  // A service that has just started does not answer yet.
  await vi.waitFor(() => registry.plan(randomUUID()), soon);
});
afterAll(() => registry[Symbol.asyncDispose]());

const report = (position: number, event: string, noticedBy = "relay") =>
  registry.stage.ask("registry", "RecordRewind", { position, event, noticedBy });
const release = (reason = "") => registry.stage.ask("registry", "ReleaseDeletions", { reason });
const list = async (after = "", limit = 100) => {
  const answer = await registry.stage.ask("registry", "GetDeletionHold", { after, limit });
  if (answer.kind !== "ok") throw new Error(`the hold: ${JSON.stringify(answer)}`);
  return answer.reply;
};
const held = async () => (await registry.stage.events(holdStream)).map(({ type }) => type);
const rejectedAs = (rejected: string) => ({ kind: "rejected", rejection: { rejected } });

test("a checkpoint whose completion the log lost stays until a person releases the deletions", async () => {
  const trial = await registry.newTrial();
  const { checkpoint } = await registry.declare(trial);
  const manifest = await registry.write(checkpoint, { weights: "w" });
  const declaredAt = await registry.stage.head();
  await vi.waitFor(async () => {
    expect(await registry.complete(checkpoint, trial, manifest)).toMatchObject({ kind: "ok" });
  }, soon);
  await registry.stage.relay();
  const lost = await registry.stage.head();
  // No process remembers the lost event; the stream still ends with it.
  await registry.service[Symbol.asyncDispose]();
  await registry.stage.restoreTo(declaredAt);
  await registry.restart();
  expect(await list()).toMatchObject({ held: false, unfinished: [{ state: "declared" }] });
  await registry.stage.tell(`trial-${trial}`, runEnded(1));
  await vi.waitFor(async () => expect(await held()).toEqual(["DeletionsHeld"]), soon);
  expect(await registry.names(checkpoint)).toEqual(["CheckpointDeclared"]);
  const place = `${registry.storage}/${checkpoint}`;
  expect(await list()).toMatchObject({
    held: true,
    position: lost,
    noticedBy: "registry",
    detail: expect.stringContaining("the log went back"),
    unfinished: [{ checkpoint, trial, run: 1, step: 10, state: "run_over", place }],
    more: false,
  });
  expect(await release()).toMatchObject(rejectedAs("relay_behind"));
  await registry.stage.refill();
  expect(await release("compared with the storage")).toMatchObject({ kind: "ok" });
  expect(await registry.stage.events(holdStream)).toMatchObject([
    { type: "DeletionsHeld" },
    { type: "DeletionsReleased", data: { by: "stage", reason: "compared with the storage" } },
  ]);
  await vi.waitFor(async () => {
    expect(await registry.names(checkpoint)).toEqual(["CheckpointDeclared", "CheckpointAbandoned"]);
  }, soon);
  // The log lost the event that the marker names, too: an adoption writes the marker again.
  const { storage, stage } = registry;
  const owner = { log: await stage.identity.id(), witness: await stage.identity.latest() };
  await writeStorageMarker(storage, { id: await markStorage(storage), owner });
  await vi.waitFor(() => expect(registry.has(checkpoint)).toBe(false), soon);
});

test("a rewind is recorded once, only if the log lacks the event, and not again after its release", async () => {
  const before = await registry.stage.events(holdStream);
  const since = async () => (await held()).slice(before.length);
  const head = await registry.stage.tell("pool-a", { type: "PoolRemoved", data: {} });
  const [there] = await registry.stage.sql<{ id: string }>(
    "select id from log.events where position = $1",
    [head],
  );
  expect(await report(head, there?.id ?? "")).toMatchObject(rejectedAs("not_rewound"));
  expect(await report(0, "x")).toMatchObject(rejectedAs("invalid_request"));
  expect(await release()).toMatchObject(rejectedAs("deletions_not_held"));
  expect(await since()).toEqual([]);
  expect(await report(head, "lost")).toMatchObject({ kind: "ok" });
  expect(await report(head + 50, "later", "gateway")).toMatchObject({ kind: "ok" });
  expect(await since()).toEqual(["DeletionsHeld"]);
  expect(await release()).toMatchObject({ kind: "ok" });
  // A process that was away reports what the release covers.
  expect(await report(head, "lost", "metrics")).toMatchObject({ kind: "ok" });
  expect(await since()).toEqual(["DeletionsHeld", "DeletionsReleased"]);
  expect(await report(head + 50, "another", "metrics")).toMatchObject({ kind: "ok" });
  expect(await since()).toEqual(["DeletionsHeld", "DeletionsReleased", "DeletionsHeld"]);
  expect(await release()).toMatchObject({ kind: "ok" });
});

test("an ended run's checkpoint that its agent offers again is stored while deletions are held", async () => {
  const trial = await registry.newTrial();
  const { checkpoint } = await registry.declare(trial);
  const manifest = await registry.write(checkpoint, { weights: "w" });
  await report((await registry.stage.head()) + 1, "lost");
  await registry.stage.tell(`trial-${trial}`, runEnded(1));
  const complete = () => registry.complete(checkpoint, trial, manifest);
  await vi.waitFor(async () => expect(await complete()).toMatchObject({ kind: "ok" }), soon);
  // The log has lost the declaration of another one, too.
  expect((await registry.declare(trial)).answer).toMatchObject({ kind: "ok" });
  await release();
  expect((await registry.declare(trial)).answer).toMatchObject(rejectedAs("run_ended"));
});

test("an audit deletes nothing while deletions are held", async () => {
  await registry.declare(await registry.newTrial());
  await report((await registry.stage.head()) + 1, "lost");
  const nineDaysMs = 9 * 24 * 60 * 60 * 1000;
  const request = { root: registry.storage, reason: "", deleteOlderThanMs: nineDaysMs };
  expect(await registry.stage.ask("registry", "AuditStorage", request)).toMatchObject(
    rejectedAs("deletions_held"),
  );
  await release();
  expect(await registry.stage.ask("registry", "AuditStorage", request)).toMatchObject({
    kind: "ok",
  });
});
