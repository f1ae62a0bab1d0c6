/** Folders that people upload: checkpoints without a trial, in a bucket and in a directory. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { registryLimits } from "./limits.ts";
import { BucketStage } from "./testing/bucket-stage.ts";
import { entry } from "./testing/test-registry.ts";

const soon = { timeout: 45_000, interval: 100 };
const rejectedAs = (rejected: string) => ({ kind: "rejected", rejection: { rejected } });
const files = { "model.bin": "the weights", "deep/config.json": "{}" };
const manifest = Object.entries(files).map(([path, content]) => entry(path, content));

let bucket: BucketStage;

beforeAll(async () => {
  bucket = await BucketStage.start();
  await vi.waitFor(() => bucket.registry.plan(randomUUID()), soon);
});
afterAll(() => bucket[Symbol.asyncDispose]());

const inBucket = () => ({
  type: "s3",
  bucket: "models",
  prefix: "team/a",
  endpoint_url: bucket.server.url,
});

function declare(checkpoint: string, more: object = {}) {
  const about = { checkpoint, trial: "", run: 0, step: 0, format: "" };
  const message = { ...about, storage: inBucket(), ...more };
  return bucket.registry.stage.ask("registry", "DeclareCheckpoint", message);
}

const complete = async (checkpoint: string, trial = "") =>
  bucket.decided({ checkpoint, trial, manifest });

/** Declares, sends and completes a folder. Returns its checkpoint id. */
async function uploaded(): Promise<string> {
  const checkpoint = randomUUID();
  expect(await declare(checkpoint)).toMatchObject({ kind: "ok" });
  const plan = await bucket.planned({ checkpoint, trial: "", manifest });
  expect(await bucket.sendAll(plan, files)).toEqual([200, 200]);
  expect(await complete(checkpoint)).toMatchObject({ kind: "ok" });
  return checkpoint;
}

const register = (checkpoint: string, onlyTrial = "") => {
  const words = { addLabels: [], removeLabels: [] };
  const about = { model: "iris", checkpoint, semanticVersion: "", words, createModel: true };
  const place = {
    workspace: "default",
    project: "default",
    workspaceId: "default",
    projectId: "default",
  };
  const message = { ...about, onlyTrial, place };
  return bucket.registry.stage.ask("registry", "RegisterVersion", message);
};

test("an uploaded folder in a bucket completes, can become a version, and is known to an audit", async () => {
  const checkpoint = await uploaded();
  const [declared, completed] = await bucket.registry.stage.events(`checkpoint-${checkpoint}`);
  expect(declared?.data).toMatchObject({ trial: "", run: 0, uploadedBy: "stage" });
  expect(completed).toMatchObject({ type: "CheckpointCompleted", data: { trial: "", files: 2 } });
  expect(await declare(checkpoint)).toMatchObject({ kind: "ok" });
  expect(await register(checkpoint, "1.1")).toMatchObject(rejectedAs("not_your_run"));
  expect(await register(checkpoint)).toMatchObject({ kind: "ok" });
  const last = (await bucket.registry.stage.events(`checkpoint-${checkpoint}`)).at(-1);
  expect(last).toMatchObject({ type: "CheckpointPinned" });
  const asked = { root: bucket.root, reason: "" };
  const audit = await bucket.registry.stage.ask("registry", "AuditStorage", asked);
  expect(audit).toMatchObject({ kind: "ok", reply: { findings: [] } });
});

test("an uploaded folder in a directory completes once its files are stored", async () => {
  const { registry } = bucket;
  const checkpoint = randomUUID();
  const storage = { type: "directory", container_path: registry.storage };
  const more = { storage, storageId: registry.storageId };
  const planned = await declare(checkpoint, more);
  expect(planned).toMatchObject({ kind: "ok", reply: { store: "" } });
  await registry.write(checkpoint, files);
  expect(await complete(checkpoint)).toMatchObject({ kind: "ok" });
});

test("a folder in another storage than those at its root is refused with the reason", async () => {
  const { registry } = bucket;
  await registry.stored(await registry.newTrial());
  const storage = { type: "directory", container_path: registry.storage };
  const answer = await declare(randomUUID(), { storage, storageId: randomUUID() });
  expect(answer).toMatchObject(rejectedAs("storage_not_known"));
});

test("a file that differs fails the upload with the file's name, and the id cannot be reused", async () => {
  const { registry } = bucket;
  const checkpoint = randomUUID();
  const storage = { type: "directory", container_path: registry.storage };
  await declare(checkpoint, { storage, storageId: registry.storageId });
  await registry.write(checkpoint, { ...files, "model.bin": "other weights" });
  const answer = await complete(checkpoint);
  expect(answer).toMatchObject(rejectedAs("checkpoint_incomplete"));
  expect(JSON.stringify(answer)).toContain("model.bin");
  expect(await declare(checkpoint, { storage })).toMatchObject(rejectedAs("checkpoint_failed"));
});

test("a run cannot write to a person's folder, nor a person to a run's checkpoint", async () => {
  const checkpoint = randomUUID();
  await declare(checkpoint);
  const trial = await bucket.newTrial();
  expect(await bucket.planUpload({ checkpoint, trial, manifest })).toMatchObject(
    rejectedAs("not_your_run"),
  );
  expect(await complete(checkpoint, trial)).toMatchObject(rejectedAs("not_your_run"));
  const ofRun = await bucket.declared(files);
  expect(await bucket.planUpload({ ...ofRun, trial: "" })).toMatchObject(
    rejectedAs("not_your_run"),
  );
  expect(await declare(ofRun.checkpoint)).toMatchObject(rejectedAs("checkpoint_exists"));
  expect(await complete(ofRun.checkpoint)).toMatchObject(rejectedAs("not_your_run"));
});

test("a complete or failed folder gets no further upload plan", async () => {
  const checkpoint = await uploaded();
  const other = [entry("model.bin", "other weights")];
  const plan = await bucket.planned({ checkpoint, trial: "", manifest: other });
  expect(plan).toMatchObject([{ path: "model.bin", parts: [] }]);
  const failed = randomUUID();
  await declare(failed);
  await bucket.sendAll(await bucket.planned({ checkpoint: failed, trial: "", manifest }), files);
  const wrong = { checkpoint: failed, trial: "", manifest: other };
  expect(await bucket.decided(wrong)).toMatchObject(rejectedAs("checkpoint_incomplete"));
  expect(await bucket.planUpload(wrong)).toMatchObject(rejectedAs("checkpoint_failed"));
});

test("the id of a deleted folder cannot be declared again", async () => {
  const checkpoint = await uploaded();
  await bucket.registry.stage.tell(`retention-${checkpoint}`, {
    type: "CheckpointDeletionStarted",
    data: {},
  });
  expect(await declare(checkpoint)).toMatchObject(rejectedAs("checkpoint_deleted"));
  expect(await register(checkpoint)).toMatchObject(rejectedAs("checkpoint_deleted"));
});

test("an upload that is never completed is abandoned after eight days, and its files are cleared", async () => {
  const checkpoint = randomUUID();
  await declare(checkpoint);
  const plan = await bucket.planned({ checkpoint, trial: "", manifest });
  await bucket.sendAll(plan.slice(0, 1), files);
  expect(bucket.keys().some((key) => key.startsWith(checkpoint))).toBe(true);
  await bucket.registry.restart({ aheadMs: registryLimits.namedMs - 60_000 });
  expect(await bucket.registry.names(checkpoint)).toEqual(["CheckpointDeclared"]);
  await bucket.registry.restart({ aheadMs: registryLimits.namedMs + 60_000 });
  await vi.waitFor(async () => {
    const names = await bucket.registry.names(checkpoint);
    expect(names).toEqual(["CheckpointDeclared", "CheckpointAbandoned"]);
    expect(bucket.keys().some((key) => key.startsWith(checkpoint))).toBe(false);
  }, soon);
  const last = (await bucket.registry.stage.events(`checkpoint-${checkpoint}`)).at(-1);
  expect(last?.data).toEqual({ reason: "stage did not complete the upload of the folder in time" });
});

test("the files of an abandoned upload are cleared even if its table row is updated late", async () => {
  const { registry } = bucket;
  const checkpoint = randomUUID();
  await declare(checkpoint);
  await bucket.sendAll(await bucket.planned({ checkpoint, trial: "", manifest }), files);
  const row = `select from registry.unfinished where checkpoint = '${checkpoint}'`;
  await vi.waitFor(async () => expect(await registry.stage.sql(row)).toHaveLength(1), soon);
  const cursor = "select from registry.view_cursor where view = 'unfinished' for update";
  await registry.stage.holding(cursor, async () => {
    await registry.restart({ aheadMs: registryLimits.namedMs + 60_000 });
    // The row is checked once more while it does not say yet that the checkpoint was abandoned.
    const tries = `select from registry.unfinished_tries where checkpoint = '${checkpoint}' and tries > 1`;
    await vi.waitFor(async () => {
      const isDropped = (await registry.stage.sql(row)).length === 0;
      expect(isDropped || (await registry.stage.sql(tries)).length === 1).toBe(true);
    }, soon);
  });
  await vi.waitFor(() => {
    expect(bucket.keys().filter((key) => key.startsWith(checkpoint))).toEqual([]);
  }, soon);
  expect(await registry.names(checkpoint)).toEqual(["CheckpointDeclared", "CheckpointAbandoned"]);
});
