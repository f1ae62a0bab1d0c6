/** Files that a trial's last checkpoint has are copied inside the store, and no checkpoint depends on another. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { createHash, randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openS3Store } from "@trainyard/blob/s3";
import { isTaskId } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { RunEndWhy } from "@trainyard/contracts/events";
import { S3Server, testUser } from "@trainyard/testing/s3";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  entry,
  experimentStoredIn,
  runEnded,
  runRequested,
  taskStoredIn,
  TestRegistry,
  trialCreated,
} from "./testing/test-registry.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

let s3: S3Server;
let registry: TestRegistry;

beforeEach(async () => {
  s3 = await S3Server.start({ buckets: ["models"] });
  const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = testUser;
  const file = join(mkdtempSync(join(tmpdir(), "ty-unchanged-")), "credentials.json");
  writeFileSync(file, JSON.stringify({ s3: { access_key_id, secret_access_key } }), {
    mode: 0o600,
  });
  registry = await TestRegistry.start({
    TRAINYARD_STORAGE_CREDENTIALS: file,
    TRAINYARD_STORAGE_ENDPOINTS: s3.url,
  });
  const storage = { type: "s3", bucket: "models", endpoint_url: s3.url };
  await registry.stage.tell("experiment-2", experimentStoredIn({ ...storage, prefix: "team" }));
  await registry.stage.tell("experiment-3", experimentStoredIn({ ...storage, prefix: "other" }));
});

afterEach(async () => {
  await registry[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

type Files = Readonly<Record<string, string>>;

const digested = (files: Files) =>
  Object.entries(files).map(([path, content]) => {
    return { ...entry(path, content), md5: createHash("md5").update(content).digest("base64") };
  });

async function newTrial(trial: string): Promise<string> {
  const [experiment = ""] = trial.split(".");
  await registry.stage.tell(`trial-${trial}`, trialCreated(1, experiment), runRequested(1));
  return trial;
}

/** A trial, or a task whose folder is saved. */
const makerOf = (id: string) => (isTaskId(id) ? { trial: "", task: id } : { trial: id });

function plan(checkpoint: string, maker: string, files: Files, run = 1) {
  const message = { ...makerOf(maker), checkpoint, run, files: digested(files) };
  return registry.stage.ask("registry", "PlanUpload", message);
}

/** Declares a checkpoint, sends the planned files and completes it. Returns the names of the sent files. */
async function store(maker: string, files: Files, run = 1) {
  const { checkpoint } = await registry.declareIn({ ...makerOf(maker), run });
  const answer = await plan(checkpoint, maker, files, run);
  if (answer.kind !== "ok") throw new Error(JSON.stringify(answer));
  const sent: string[] = [];
  for (const { path, parts } of answer.reply.files) {
    for (const { request } of parts) {
      const { method, url, headers } = request ?? { method: "", url: "", headers: {} };
      const body = files[path] ?? "";
      expect((await fetch(url, { method, headers, body })).status).toBe(200);
      sent.push(path);
    }
  }
  const message = { ...makerOf(maker), checkpoint, run, manifest: digested(files) };
  const completed = await registry.stage.ask("registry", "CompleteCheckpoint", message);
  const data = { checkpoint, run, step: 10 };
  await (isTaskId(maker)
    ? registry.stage.tell(`task-${maker}`, {
        type: "TaskSaved",
        data: { ...data, files: 1, bytes: 1 },
      })
    : registry.stage.tell(`trial-${maker}`, { type: "TrialCheckpointed", data }));
  return { checkpoint, sent, completed };
}

const copies = () => s3.served.filter(({ operation }) => operation === "CopyObject");

/** Opens the bucket like another program that uses it. */
const other = () =>
  openS3Store({ bucket: "models", endpoint: s3.url, credentials: testUser, clock: systemClock });

const first: Files = { embedding: "e".repeat(1_000), head: "1", "metadata.json": "{}" };

test("an unchanged file is copied, even under another name, and a changed or an empty file is sent", async () => {
  const trial = await newTrial("2.1");
  expect((await store(trial, first)).sent).toEqual(["embedding", "head", "metadata.json"]);
  const second = { "moved/embedding": "e".repeat(1_000), head: "2", empty: "" };
  const { checkpoint, sent, completed } = await store(trial, second);
  expect(completed).toMatchObject({ kind: "ok" });
  expect(sent).toEqual(["head", "empty"]);
  expect(copies().map(({ key }) => key)).toEqual([`team/${checkpoint}/moved/embedding`]);
});

test("a file that a task's last save has is copied, also in the next run of the task", async () => {
  const storage = { type: "s3", bucket: "models", endpoint_url: s3.url, prefix: "team" };
  await registry.stage.tell("task-t1", taskStoredIn(storage), runRequested(1, ""));
  await store("t1", { "files/data": "d".repeat(1_000), "small-1.tar": "1" });
  await registry.stage.tell("task-t1", runEnded(1), runRequested(2, ""));
  const again = { "files/data": "d".repeat(1_000), "small-1.tar": "2" };
  const { checkpoint, sent, completed } = await store("t1", again, 2);
  expect([completed.kind, sent]).toEqual(["ok", ["small-1.tar"]]);
  expect(copies().map(({ key }) => key)).toEqual([`team/${checkpoint}/files/data`]);
});

test("a checkpoint with copied files stays whole when its source is deleted", async () => {
  const trial = await newTrial("2.1");
  const before = await store(trial, first);
  const { checkpoint } = await store(trial, { ...first, head: "2" });
  await using program = other();
  await program.delete(Object.keys(first).map((path) => `team/${before.checkpoint}/${path}`));
  const message = { checkpoint };
  const verified = await registry.stage.ask("registry", "VerifyCheckpoint", message);
  expect(verified).toMatchObject({ kind: "ok", reply: { problems: [] } });
  // The next checkpoint is copied from this one; only its new file is sent.
  expect((await store(trial, { ...first, head: "3" })).sent).toEqual(["head"]);
});

test("a damaged file is not reused: its copy differs, so the file is sent", async () => {
  const trial = await newTrial("2.1");
  const before = await store(trial, first);
  await using program = other();
  await program.put(`team/${before.checkpoint}/embedding`, Buffer.from("x".repeat(1_000)));
  const { sent, completed } = await store(trial, { ...first, head: "2" });
  expect(sent).toEqual(["embedding", "head"]);
  expect(completed).toMatchObject({ kind: "ok" });
});

test("files of another trial or of another storage are never copied", async () => {
  await store(await newTrial("2.1"), first);
  expect((await store(await newTrial("2.2"), first)).sent).toHaveLength(3);
  expect((await store(await newTrial("3.1"), first)).sent).toHaveLength(3);
  expect(copies()).toEqual([]);
});

test("a file whose copy is refused is sent, and a slow copy is awaited by retrying", async () => {
  const trial = await newTrial("2.1");
  await store(trial, first);
  s3.failures.add({
    failure: { kind: "status", status: 403, code: "AccessDenied" },
    operation: "CopyObject",
    times: 9,
  });
  expect((await store(trial, first)).sent).toEqual(["embedding", "head", "metadata.json"]);
  s3.failures.clear();
  s3.failures.add({
    failure: { kind: "slow", ms: 6_000 },
    operation: "CopyObject",
    key: "embedding",
  });
  const { checkpoint } = await registry.declareIn({ trial });
  expect(await plan(checkpoint, trial, first)).toMatchObject({ kind: "unavailable" });
  await vi.waitFor(
    async () => {
      const again = await plan(checkpoint, trial, first);
      if (again.kind !== "ok") throw new Error(JSON.stringify(again));
      expect(again.reply.files.flatMap(({ parts }) => parts)).toEqual([]);
    },
    { timeout: 30_000, interval: 200 },
  );
  // The retry joined the running copy.
  const made = copies().filter(({ key }) => key === `team/${checkpoint}/embedding`);
  expect(made).toHaveLength(1);
});

test("an upload that an ended run left makes recorded progress when the store has more of it", async () => {
  const trial = await newTrial("2.1");
  const { checkpoint } = await registry.declareIn({ trial });
  const files = { a: "1", b: "2", c: "3" };
  const send = async (path: string): Promise<void> => {
    const answer = await plan(checkpoint, trial, files);
    const planned = answer.kind === "ok" ? answer.reply.files : [];
    const request = planned.find((file) => file.path === path)?.parts[0]?.request;
    const { method = "", url = "", headers = {} } = request ?? {};
    await fetch(url, { method, headers, body: files[path as "a"] });
  };
  const progress = async () =>
    (await registry.names(checkpoint)).filter((name) => name.includes("UploadProgressed")).length;
  await send("a");
  await plan(checkpoint, trial, files);
  // The run's process is still alive.
  expect(await progress()).toBe(0);
  await registry.stage.tell(`trial-${trial}`, runEnded(1, RunEndWhy.FAILED, [checkpoint]));
  await plan(checkpoint, trial, files);
  await plan(checkpoint, trial, files);
  expect(await progress()).toBe(0);
  await send("b");
  await plan(checkpoint, trial, files);
  expect(await progress()).toBe(1);
  // Progress is not recorded with each plan: the wait after it is much longer.
  await send("c");
  await plan(checkpoint, trial, files);
  expect(await progress()).toBe(1);
});

test("TensorBoard files are below tensorboard/ of the prefix, and a grown file replaces its beginning", async () => {
  const trial = await newTrial("2.1");
  const plan = async (content: string, beginning?: string) => {
    const files = digested({ "metrics/events": content });
    const beginnings = beginning === undefined ? [] : digested({ "metrics/events": beginning });
    const message = { trial, run: 1, files, beginnings };
    return registry.stage.ask("registry", "PlanTensorBoard", message);
  };
  const send = async (content: string, beginning?: string): Promise<number> => {
    const answer = await plan(content, beginning);
    const parts = answer.kind === "ok" ? answer.reply.files.flatMap((file) => file.parts) : [];
    for (const { request: planned } of parts) {
      const { method = "", url = "", headers = {} } = planned ?? {};
      expect((await fetch(url, { method, headers, body: content })).status).toBe(200);
    }
    return parts.length;
  };
  expect([await send("12"), await send("12"), await send("1234"), await send("1234")]).toEqual([
    1, 0, 1, 0,
  ]);
  await using program = other();
  const log = await registry.stage.identity.id();
  const key = `team/tensorboard/${log}/experiment/2/trial/2.1/metrics/events`;
  expect(await program.head(key)).toMatchObject({ bytes: 4 });
  const pageAfter = async (after: string) => {
    const message = { trial, after };
    const answer = await registry.stage.ask("registry", "PlanTensorBoardDownload", message);
    return answer.kind === "ok" ? answer.reply.files : [];
  };
  // A name outside the folder, written by another program, is left out.
  const objects = s3.buckets.get("models")?.objects;
  const written = objects?.get(key);
  if (written !== undefined) objects?.set(key.replace("metrics", "../3"), written);
  const [listed, ...more] = await pageAfter("");
  expect([listed?.path, listed?.bytes, more]).toEqual(["metrics/events", 4, []]);
  const { url = "", method = "", headers = {} } = listed?.request ?? {};
  expect(await (await fetch(url, { method, headers })).text()).toBe("1234");
  expect(await pageAfter("metrics/events")).toEqual([]);
  // A newer run may have written the object.
  await registry.stage.tell(`trial-${trial}`, runEnded(1, RunEndWhy.FAILED, []), runRequested(2));
  expect(await send("of run 1, longer")).toBe(0);
  expect(await program.head(key)).toMatchObject({ bytes: 4 });
  const told = { reply: { files: [{ parts: [], storedBytes: 4 }] } };
  expect(await plan("of run 1, longer", "of r")).toMatchObject(told);
  expect(await plan("123")).toMatchObject({ reply: { files: [{ parts: [], storedBytes: 0 }] } });
  expect(await send("of run 1, longer", "1234567")).toBe(0);
  // The object equals the beginning of the file: the rest that the run wrote since is sent.
  expect(await plan("123456")).toMatchObject(told);
  expect(await send("123456", "1234")).toBe(1);
  expect(await program.head(key)).toMatchObject({ bytes: 6 });
  const absent = { trial, run: 1, files: digested({ b: "1" }), beginnings: [] };
  expect(await registry.stage.ask("registry", "PlanTensorBoard", absent)).toMatchObject({
    reply: { files: [{ path: "b", parts: [{ bytes: 1 }] }] },
  });
  const later = { trial, run: 3, files: digested({ a: "1" }), beginnings: [] };
  expect(await registry.stage.ask("registry", "PlanTensorBoard", later)).toMatchObject({
    rejection: { rejected: "run_not_found" },
  });
  // A checkpoint that an agent brings after the final deletion would never be deleted.
  await registry.stage.tell("experiment-2", { type: "ExperimentDeleted", data: {} });
  await vi.waitFor(async () =>
    expect(await registry.stage.ask("registry", "PlanTensorBoard", absent)).toMatchObject({
      rejection: { rejected: "run_not_found" },
    }),
  );
});

test("TensorBoard files are stored in tensorboard_storage, and checkpoints in checkpoint_storage", async () => {
  const boards = { type: "s3", bucket: "models", prefix: "boards", endpoint_url: s3.url };
  const folder = { type: "directory", container_path: "/checkpoints" };
  const planIn = async (id: string, checkpoints: Record<string, string>, own: object) => {
    const created = experimentStoredIn(checkpoints, { tensorboard_storage: own });
    await registry.stage.tell(`experiment-${id}`, created);
    const trial = `${id}.1`;
    await registry.stage.tell(`trial-${trial}`, trialCreated(1, id), runRequested(1, id));
    const request = { trial, run: 1, files: digested({ events: "1" }), beginnings: [] };
    return registry.stage.ask("registry", "PlanTensorBoard", request);
  };
  const planned = await planIn("8", folder, boards);
  const [part] = planned.kind === "ok" ? (planned.reply.files[0]?.parts ?? []) : [];
  const below = `/boards/tensorboard/${await registry.stage.identity.id()}/experiment/8/trial/8.1`;
  expect(part?.request?.url).toContain(`${below}/events?`);
  expect(await planIn("9", { ...boards, prefix: "team" }, folder)).toMatchObject({
    rejection: { rejected: "storage_unsupported", detail: expect.stringContaining("directory") },
  });
});

test("a trial without a checkpoint, or whose checkpoint is missing, plans every file", async () => {
  const trial = await newTrial("2.1");
  const data = { checkpoint: randomUUID(), run: 1, step: 1 };
  await registry.stage.tell(`trial-${trial}`, { type: "TrialCheckpointed", data });
  expect((await store(trial, first)).sent).toHaveLength(3);
});
