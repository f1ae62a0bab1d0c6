/** Tests of folders that a person uploads: the commands to the registry, and the resulting checkpoint and version. */
import type { AnyEvent } from "@trainyard/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

const checkpoint = "aaaaaaaa-0000-4000-8000-000000000001";
const manifest = [{ path: "model.bin", bytes: 3, sha256: "a".repeat(64) }];
const place = "/api/v1/checkpoints";

let gateway: TestGateway;
let registry: AsyncDisposable;
const asked: object[] = [];

beforeAll(async () => {
  gateway = await startTestGateway();
  registry = await gateway.serving("registry", {
    DeclareCheckpoint: async (request) => {
      asked.push(request);
      return { checkpoint, path: `/c/${checkpoint}`, position: 1, store: "" };
    },
    PlanUpload: async (request) => {
      asked.push(request);
      return { files: [] };
    },
    CompleteCheckpoint: async (request) => {
      asked.push(request);
      return { position: 7, stream: "" };
    },
  });
}, 60_000);
afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

test("a person declares, plans and completes a folder without a run, in the cluster's storage", async () => {
  asked.length = 0;
  const declared = await gateway.call("POST", place, {
    body: { checkpoint, metadata: { uploaded_from: "iris" } },
  });
  expect(declared).toMatchObject({ status: 200, body: { path: `/c/${checkpoint}` } });
  const planned = { body: { files: manifest } };
  expect(await gateway.call("POST", `${place}/${checkpoint}/upload`, planned)).toMatchObject({
    status: 200,
  });
  const completed = await gateway.call("POST", `${place}/${checkpoint}/complete`, {
    body: { manifest },
  });
  expect(completed).toMatchObject({ status: 200, body: { position: "7" } });
  const storage = { type: "directory", container_path: gateway.checkpointDir };
  expect(asked).toMatchObject([
    { checkpoint, trial: "", run: 0, storage },
    { checkpoint, trial: "", run: 0 },
    { checkpoint, trial: "", run: 0 },
  ]);
});

test("a run's token cannot upload a folder, and a user's token cannot store a checkpoint of a run", async () => {
  asked.length = 0;
  const token = await gateway.runToken("1.1#1");
  for (const [path, body] of [
    [place, { checkpoint }],
    [`${place}/${checkpoint}/upload`, { files: manifest }],
    [`${place}/${checkpoint}/complete`, { manifest }],
  ] as const) {
    expect(await gateway.call("POST", path, { body, token })).toMatchObject({
      status: 403,
      body: { code: "not_for_runs" },
    });
  }
  const run = "/api/v1/runs/1.1%231/checkpoints";
  expect(await gateway.call("POST", run, { body: { checkpoint } })).toMatchObject({
    status: 403,
    body: { code: "not_a_run" },
  });
  expect(asked).toEqual([]);
});

test("an uploaded checkpoint and its version show the person who uploaded them", async () => {
  const about = { trial: "", run: 0, step: 0, format: "", uploadedBy: "ada" };
  const declared: AnyEvent = { type: "CheckpointDeclared", data: about };
  const summary = { manifestDigest: "d", files: 1, bytes: 3, trial: "", run: 0, step: 0 };
  const completed: AnyEvent = { type: "CheckpointCompleted", data: summary };
  await gateway.append(`checkpoint-${checkpoint}`, declared, completed);
  const words = { description: "", notes: "", labels: [], by: "bob" };
  const of = { checkpoint, trial: "", run: 0, step: 0, semanticVersion: "", metrics: {} };
  const made: AnyEvent = { type: "ModelCreated", data: { ...words, workspace: "" } };
  const registered: AnyEvent = { type: "VersionRegistered", data: { ...words, ...of, number: 1 } };
  const position = await gateway.append("model-iris", made, registered);
  const path = `/api/v1/models/iris/versions/latest?minPosition=${position}`;
  expect(await gateway.call("GET", path)).toMatchObject({
    status: 200,
    body: { checkpoint, trial: "", experiment: "", uploadedBy: "ada", registeredBy: "bob" },
  });
});

test("a version of a task's save shows the task", async () => {
  const saved = "bbbbbbbb-0000-4000-8000-000000000001";
  const about = { trial: "", task: "t1", run: 1, step: 1_000_001 };
  await gateway.append(`checkpoint-${saved}`, {
    type: "CheckpointDeclared",
    data: { ...about, format: "trainyard-work/1" },
  });
  const words = { description: "", notes: "", labels: [], by: "bob" };
  const { task: _task, ...made } = about;
  const of = { ...made, checkpoint: saved, semanticVersion: "", metrics: {}, number: 1 };
  const position = await gateway.append(
    "model-notes",
    { type: "ModelCreated", data: { ...words, workspace: "" } },
    { type: "VersionRegistered", data: { ...words, ...of } },
  );
  const path = `/api/v1/models/notes/versions/latest?minPosition=${position}`;
  const { body } = await gateway.call("GET", path);
  expect(body).toMatchObject({ checkpoint: saved, trial: "", task: "t1" });
});
