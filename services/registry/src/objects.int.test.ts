/** Checkpoints in a bucket, and failures in the middle: the registry over a real PostgreSQL and a strict S3 server. */
import { randomUUID } from "node:crypto";
import { storageMarkerName as marker } from "@trainyard/blob";
import type { AnyEvent } from "@trainyard/contracts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { BucketStage, type Stored } from "./testing/bucket-stage.ts";
import { entry } from "./testing/test-registry.ts";

const files = { weights: "the weights", "deep/optimizer é": "momentum" };
const dayMs = 24 * 60 * 60 * 1000;
const rejectedAs = (rejected: string) => ({ kind: "rejected", rejection: { rejected } });

let bucket: BucketStage;

beforeAll(async () => {
  bucket = await BucketStage.start();
  await ready(bucket);
});
afterAll(() => bucket[Symbol.asyncDispose]());

/** Waits for a service that has just started and does not answer yet. */
async function ready({ registry }: BucketStage): Promise<void> {
  await vi.waitFor(() => registry.plan(randomUUID()), { timeout: 45_000, interval: 100 });
}

const partsOf = (stored: Stored) => bucket.planned(stored);

const namesOf = ({ checkpoint }: Stored) => bucket.registry.names(checkpoint);

describe("an upload", () => {
  test("is planned until the store has all files, and is then completed", async () => {
    const stored = await bucket.declared(files);
    const [first, second] = await partsOf(stored);
    expect([first?.parts.length, second?.parts.length]).toEqual([1, 1]);
    expect(await bucket.sendAll([first ?? { path: "", parts: [], storedBytes: 0 }], files)).toEqual(
      [200],
    );
    const left = await partsOf(stored);
    expect(left.map(({ path, parts }) => [path, parts.length])).toEqual([
      ["weights", 0],
      ["deep/optimizer é", 1],
    ]);
    expect(await bucket.complete(stored)).toEqual({ kind: "unavailable" });
    expect(await namesOf(stored)).toEqual(["CheckpointDeclared"]);
    expect(await bucket.sendAll(left, files)).toEqual([200]);
    expect(await bucket.decided(stored)).toMatchObject({ kind: "ok" });
    expect(await bucket.decided(stored)).toMatchObject({ kind: "ok" });
    expect(await namesOf(stored)).toEqual(["CheckpointDeclared", "CheckpointCompleted"]);
  });

  test("is planned again when its plan has expired, and the store refuses the old plan", async () => {
    const stored = await bucket.declared(files);
    const old = await partsOf(stored);
    const refused = await bucket.ahead(2 * 60 * 60 * 1000, () => bucket.sendAll(old, files));
    expect(refused).toEqual([403, 403]);
    expect((await partsOf(stored)).map(({ parts }) => parts.length)).toEqual([1, 1]);
    expect(await bucket.sendAll(await partsOf(stored), files)).toEqual([200, 200]);
    expect(await bucket.decided(stored)).toMatchObject({ kind: "ok" });
  });

  test("of a complete checkpoint needs no more files, and of a failed one is refused with the reason", async () => {
    const stored = await bucket.completed(files);
    const others = { ...stored, manifest: [entry("weights", "other"), entry("more", "x")] };
    const answer = await bucket.planUpload(others);
    const wanted = ["weights", "more"].map((path) => ({ path, parts: [] }));
    expect(answer).toMatchObject({ kind: "ok", reply: { files: wanted } });
    const failed = await bucket.sent(files);
    await bucket.store.put(`${failed.checkpoint}/weights`, Buffer.from("the_weights"));
    await bucket.decided(failed);
    const refused = await bucket.planUpload(failed);
    expect(refused).toMatchObject(rejectedAs("checkpoint_failed"));
    expect(refused).toMatchObject({
      rejection: {
        detail: 'the file "weights" has another content than the manifest says',
      },
    });
  });

  test("accepts only the bytes of the manifest", async () => {
    const stored = await bucket.declared(files);
    const other = { ...files, weights: "the_weights" };
    expect(await bucket.sendAll(await partsOf(stored), other)).toEqual([400, 200]);
  });

  test("is planned only for the checkpoint's run, and only for valid paths", async () => {
    const stored = await bucket.declared(files);
    const another = { ...stored, trial: await bucket.newTrial() };
    expect(await bucket.planUpload(another)).toMatchObject(rejectedAs("not_your_run"));
    expect(await bucket.planUpload(stored, { run: 2 })).toMatchObject(rejectedAs("not_your_run"));
    expect(await bucket.complete(another)).toMatchObject(rejectedAs("not_your_run"));
    const unknown = { ...stored, checkpoint: randomUUID() };
    expect(await bucket.planUpload(unknown)).toMatchObject(rejectedAs("checkpoint_not_found"));
    for (const path of ["../other", "/etc/passwd", "a/../../b", "a//b", "", ".", "a\0b"]) {
      const [entry] = stored.manifest;
      const manifest = entry === undefined ? [] : [{ ...entry, path }];
      const answer = await bucket.planUpload({ ...stored, manifest });
      expect(answer, path).toMatchObject(rejectedAs("invalid_manifest"));
    }
  });
});

describe("a host that can never send the rest", () => {
  const fail = (stored: Stored, reason: string, run = 1) => {
    const { checkpoint, trial } = stored;
    const request = { checkpoint, trial, run, reason };
    return bucket.registry.stage.ask("registry", "FailCheckpoint", request);
  };

  test("fails its checkpoint, and a host that waits for the files gets the reason", async () => {
    const stored = await bucket.declared(files);
    await bucket.sendAll((await partsOf(stored)).slice(0, 1), files);
    expect(await bucket.complete(stored)).toEqual({ kind: "unavailable" });
    expect(await fail(stored, "the sealed file b is missing")).toMatchObject({ kind: "ok" });
    expect(await fail(stored, "again")).toMatchObject({ kind: "ok" });
    const refused = { rejected: "checkpoint_failed", detail: "the sealed file b is missing" };
    expect(await bucket.complete(stored)).toMatchObject({ rejection: refused });
    expect(await namesOf(stored)).toEqual(["CheckpointDeclared", "CheckpointFailed"]);
  });

  test("does not affect a complete checkpoint, and cannot fail one of another run", async () => {
    const complete = await bucket.completed(files);
    expect(await fail(complete, "x")).toMatchObject({ kind: "ok" });
    expect(await namesOf(complete)).toEqual(["CheckpointDeclared", "CheckpointCompleted"]);
    const open = await bucket.declared(files);
    expect(await fail(open, "x", 2)).toMatchObject(rejectedAs("not_your_run"));
    const another = { ...open, trial: await bucket.newTrial() };
    expect(await fail(another, "x")).toMatchObject(rejectedAs("not_your_run"));
    for (const reason of ["", "x".repeat(1_001)]) {
      expect(await fail(open, reason)).toMatchObject(rejectedAs("invalid_request"));
    }
    expect(await namesOf(open)).toEqual(["CheckpointDeclared"]);
  });
});

describe("a store", () => {
  test("that denies access is never taken to lack an object", async () => {
    const stored = await bucket.sent(files);
    for (const right of ["s3:GetObject", "s3:ListBucket"] as const) {
      bucket.server.deny("s3:GetObject");
      bucket.server.deny(right);
      expect(await bucket.complete(stored)).toEqual({ kind: "unavailable" });
      bucket.server.allow(right);
    }
    bucket.server.allow("s3:GetObject");
    expect(await namesOf(stored)).toEqual(["CheckpointDeclared"]);
    expect(await bucket.decided(stored)).toMatchObject({ kind: "ok" });
    bucket.server.deny("s3:GetObject");
    expect(await verify(stored)).toEqual({ kind: "unavailable" });
    bucket.server.allow("s3:GetObject");
    expect(await namesOf(stored)).toEqual(["CheckpointDeclared", "CheckpointCompleted"]);
  });

  test("that is unavailable decides nothing, and is retried once it is back", async () => {
    const stored = await bucket.sent(files);
    await bucket.server.away();
    expect(await bucket.complete(stored)).toEqual({ kind: "unavailable" });
    expect(await bucket.planUpload(stored)).toEqual({ kind: "unavailable" });
    await bucket.server.listen();
    expect(await bucket.decided(stored)).toMatchObject({ kind: "ok" });
    expect(await namesOf(stored)).toEqual(["CheckpointDeclared", "CheckpointCompleted"]);
  }, 120_000);

  test("with an object of other content fails the checkpoint, naming the file", async () => {
    const stored = await bucket.sent(files);
    await bucket.store.put(`${stored.checkpoint}/weights`, Buffer.from("the_weights"));
    const answer = await bucket.decided(stored);
    expect(answer).toMatchObject(rejectedAs("checkpoint_incomplete"));
    expect(answer).toMatchObject({ rejection: { detail: expect.stringContaining("weights") } });
    expect(await namesOf(stored)).toEqual(["CheckpointDeclared", "CheckpointFailed"]);
  });
});

/** Asks until all files are read, like the command `checkpoint verify`. */
async function verify({ checkpoint }: Stored, at = bucket) {
  const ask = () => at.registry.stage.ask("registry", "VerifyCheckpoint", { checkpoint });
  let answer = await ask();
  while (answer.kind === "ok" && !answer.reply.done) answer = await ask();
  return answer;
}

describe("a path as an object's key", () => {
  test.each([
    ["a name that is longer than a key", "é".repeat(600)],
    ["a name with a line feed", "a\nb"],
    ["a name with a carriage return", "deep/a\rb"],
    ["half a character", "a\ud800b"],
  ])("%s is refused with the reason", async (_, path) => {
    const stored = await bucket.declared({ [path]: "x" });
    const answer = await bucket.planUpload(stored);
    expect(answer).toMatchObject(rejectedAs("invalid_manifest"));
    expect(answer).toMatchObject({ rejection: { detail: expect.stringContaining("is no key") } });
  });

  test.each(["a b", "a\tb", "a\\b", "%2e%2e", "ü~'\"<>&", "a\x01b", "?x=1#y", "..."])(
    "the odd name %j is stored",
    async (path) => {
      const stored = await bucket.completed({ [path]: "x" });
      expect(await verify(stored)).toMatchObject({ kind: "ok", reply: { count: 0 } });
    },
  );
});

test("a store that revokes a right during an upload is retried", async () => {
  const stored = await bucket.declared(files);
  bucket.server.deny("s3:ListBucket");
  expect(await bucket.planUpload(stored)).toEqual({ kind: "unavailable" });
  bucket.server.allow("s3:ListBucket");
  expect((await partsOf(stored)).map(({ parts }) => parts.length)).toEqual([1, 1]);
});

describe("a verification", () => {
  test("lists changed, resized and missing files, and the checkpoint cannot be restored until it is repaired; extra files stay", async () => {
    const contents = { ...files, missing: "m", resized: "r" };
    const stored = await bucket.completed(contents);
    const { checkpoint } = stored;
    const key = (path: string) => `${checkpoint}/${path}`;
    await bucket.store.put(key("weights"), Buffer.from("the weightS"));
    await bucket.store.put(key("resized"), Buffer.from("rr"));
    await bucket.store.put(key("extra"), Buffer.from("x"));
    await bucket.store.delete([key("missing")]);
    const found = await verify(stored);
    const problems = found.kind === "ok" ? found.reply.problems : [];
    expect(problems.map(({ path, kind }) => [path, kind])).toEqual([
      ["missing", "missing"],
      ["resized", "resized"],
      ["weights", "flipped"],
    ]);
    const extras = { extras: ["extra"], extraCount: 1 };
    expect(found).toMatchObject({ kind: "ok", reply: extras });
    const request = { checkpoint, paths: ["weights"] };
    const read = () => bucket.registry.stage.ask("registry", "PlanFiles", request);
    expect(await read()).toMatchObject(rejectedAs("checkpoint_damaged"));
    for (const [path, content] of Object.entries(contents)) {
      await bucket.store.put(key(path), Buffer.from(content));
    }
    expect(await verify(stored)).toMatchObject({ kind: "ok", reply: { count: 0, ...extras } });
    expect(await read()).toMatchObject({ kind: "ok" });
  });

  test("of a bucket with another marker makes no statement about files", async () => {
    const stored = await bucket.completed(files);
    const content = await bucket.store.open(marker);
    const chunks: Uint8Array[] = [];
    for await (const chunk of content?.stream ?? []) chunks.push(chunk);
    await bucket.store.put(marker, Buffer.from(`${randomUUID()}\n`));
    await bucket.store.delete([`${stored.checkpoint}/weights`]);
    expect(await verify(stored)).toEqual({ kind: "unavailable" });
    expect(await namesOf(stored)).toEqual(["CheckpointDeclared", "CheckpointCompleted"]);
    await bucket.store.put(marker, Buffer.concat(chunks));
    expect(await verify(stored)).toMatchObject({ kind: "ok", reply: { count: 1 } });
  });
});

test("the bytes are read at completion if the store keeps no checksums", async () => {
  await using older = await BucketStage.start({ keepsChecksums: false });
  await ready(older);
  const whole = await older.completed(files);
  expect(await verify(whole, older)).toMatchObject({ kind: "ok", reply: { count: 0 } });
  const wrong = await older.sent(files);
  await older.store.put(`${wrong.checkpoint}/extra`, Buffer.from("left by another attempt"));
  await older.store.put(`${wrong.checkpoint}/weights`, Buffer.from("the_weights"));
  const answer = await older.decided(wrong);
  expect(answer).toMatchObject(rejectedAs("checkpoint_incomplete"));
  expect(answer).toMatchObject({ rejection: { detail: expect.stringContaining("weights") } });
}, 120_000);

describe("an audit of a bucket", () => {
  const deletionStarted: AnyEvent = { type: "CheckpointDeletionStarted", data: {} };
  const deleted: AnyEvent = { type: "CheckpointDeleted", data: { files: 1, bytes: 1 } };
  let audited: BucketStage;
  const audit = (deleteOlderThanMs?: number) => {
    const age = deleteOlderThanMs === undefined ? {} : { deleteOlderThanMs };
    const request = { root: audited.root, reason: "tidy", ...age };
    return audited.registry.stage.ask("registry", "AuditStorage", request);
  };
  const findingsOf = (answer: Awaited<ReturnType<typeof audit>>) =>
    answer.kind === "ok" ? answer.reply.findings : [];

  beforeAll(async () => {
    audited = await BucketStage.start();
    await ready(audited);
  });
  afterAll(() => audited[Symbol.asyncDispose]());

  test("lists files unknown to the log and checkpoints missing in the bucket, and deletes only old unknown files on request", async () => {
    const intact = await audited.completed(files);
    const missing = await audited.completed(files);
    await audited.store.delete(Object.keys(files).map((path) => `${missing.checkpoint}/${path}`));
    const leftOver = await audited.completed(files);
    await audited.registry.stage.tell(`retention-${leftOver.checkpoint}`, deletionStarted, deleted);
    const [old, young] = [randomUUID(), randomUUID()];
    for (const name of [old, young]) await audited.store.put(`${name}/deep/x`, Buffer.from("x"));
    // The names do not have the form of a checkpoint's files.
    await audited.store.put("notes/readme", Buffer.from("x"));
    await audited.store.put(randomUUID(), Buffer.from("x"));
    audited.age(old, 20 * dayMs);
    const found = findingsOf(await audit());
    expect(found.map(({ name, kind }) => [name, kind]).sort()).toEqual(
      [
        [missing.checkpoint, "missing"],
        [leftOver.checkpoint, "left_over"],
        [old, "unknown"],
        [young, "unknown"],
      ].sort(),
    );
    // This checkpoint is declared under another root, which may be another name of the same place.
    const { registry } = audited;
    const { checkpoint: elsewhere } = await registry.declare(await registry.newTrial());
    await audited.store.put(`${elsewhere}/x`, Buffer.from("x"));
    audited.age(elsewhere, 20 * dayMs);
    expect(findingsOf(await audit()).map(({ name }) => name)).not.toContain(elsewhere);
    const keys = audited.keys();
    expect(await audit(9 * dayMs - 1)).toMatchObject(rejectedAs("invalid_request"));
    expect(audited.keys()).toEqual(keys);
    const gone = findingsOf(await audit(14 * dayMs)).filter((one) => one.deleted);
    expect(gone.map(({ name }) => name)).toEqual([old]);
    expect(audited.keys()).toEqual(keys.filter((key) => !key.startsWith(old)));
    expect(await verify(intact, audited)).toMatchObject({ kind: "ok", reply: { count: 0 } });
  });

  test("reports the reason for a bucket that denies access or has another marker, and lists nothing as missing", async () => {
    audited.server.deny("s3:ListBucket");
    const refused = await audit();
    audited.server.allow("s3:ListBucket");
    expect(refused).toMatchObject({
      kind: "ok",
      reply: { roots: [{ problem: expect.stringContaining("s3:ListBucket") }], count: 0 },
    });
    await audited.store.put(marker, Buffer.from(`${randomUUID()}\n`));
    expect(await audit(14 * dayMs)).toMatchObject({
      kind: "ok",
      reply: { roots: [{ problem: expect.stringContaining("not the same storage") }], count: 0 },
    });
  });
});
