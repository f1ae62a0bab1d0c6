import { randomUUID } from "node:crypto";
import type { AnyEvent } from "@trainyard/contracts";
import { reject } from "@trainyard/kernel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { created, requested, taskCreated, trialCreated } from "../../testing/example-events.ts";
import { addUser } from "../../testing/people.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

const [own, near, far, unnamed] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];

let gateway: TestGateway;
let registry: AsyncDisposable;
let run = "";
let taskRun = "";

const declared = (trial: string): AnyEvent => ({
  type: "CheckpointDeclared",
  data: { trial, run: 1, step: 1, format: "" },
});

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.call("POST", "/api/v1/workspaces", { body: { name: "vision" } });
  registry = await gateway.serving("registry", {
    PlanCheckpointDownload: async ({ checkpoint }) => ({
      ...{ checkpoint, path: "", store: "", manifest: [] },
    }),
    PlanFiles: async () => ({ files: [] }),
    ReportDamage: async () => ({ done: true, damaged: true }),
    CreateModel: async ({ place }) => reject("reached", `in ${place?.workspace}`),
    RegisterVersion: async ({ place }) => reject("reached", `in ${place?.workspace}`),
  });
  const config = { entrypoint: `python3 train.py --from ${near} --and ${far}` };
  await gateway.append("experiment-1", created({ config, workspace: "vision", owner: "user:ow" }));
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  for (const [experiment, workspace] of [
    ["2", "vision"],
    ["3", "hidden"],
  ] as const) {
    await gateway.append(`experiment-${experiment}`, created({ workspace }));
    await gateway.append(`trial-${experiment}.1`, trialCreated(1), requested(1, 0));
  }
  await gateway.append(`checkpoint-${own}`, declared("1.1"));
  for (const [model, workspace] of [
    ["mine", "vision"],
    ["common", ""],
    ["theirs", "hidden"],
  ] as const) {
    const about = { description: "", notes: "", labels: [], workspace, by: "user:ow" };
    await gateway.append(`model-${model}`, { type: "ModelCreated", data: about });
  }
  await gateway.append(`checkpoint-${near}`, declared("2.1"));
  await gateway.append(`checkpoint-${far}`, declared("3.1"));
  await gateway.append(
    "task-t1",
    taskCreated({ kind: "notebook", owner: "user:ow", workspace: "vision", tokenId: "" }),
    requested(1, 0),
  );
  const position = await gateway.append(`checkpoint-${unnamed}`, declared("3.1"));
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
  run = await gateway.runToken("1.1#1", position);
  taskRun = await gateway.runToken("t1#1", position);
}, 60_000);

afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

const plan = (uuid: string, token = run) =>
  gateway.call("GET", `/api/v1/checkpoints/${uuid}/plan`, { token });

describe("the run of a trial", () => {
  test("reads what its configuration names in any workspace of a cluster without users", async () => {
    expect((await plan(near)).status).toBe(200);
    expect((await plan(far)).status).toBe(200);
  });

  test("registers its checkpoints in models of its workspace and of the default one only", async () => {
    await addUser(gateway, "ow", { role: "editor", workspace: "vision" });
    const register = async (model: string) => {
      const body = { checkpoint: own };
      const path = `/api/v1/models/${model}/versions`;
      return (await gateway.call("POST", path, { body, token: run })).body["code"];
    };
    for (const model of ["mine", "common"]) expect(await register(model)).toBe("reached");
    for (const model of ["theirs", "none"]) expect(await register(model)).toBe("model_not_found");
  });

  test("creates a model in the workspace of its experiment, and that of a task in that of the task", async () => {
    const create = async (token: string, path: string, body: object) =>
      (await gateway.call("POST", path, { body, token })).body["detail"];
    const ofTrial = { checkpoint: own, createModel: true };
    expect(await create(run, "/api/v1/models/new/versions", ofTrial)).toBe("in vision");
    const ofTask = { checkpoint: near, createModel: true };
    expect(await create(taskRun, "/api/v1/models/new/versions", ofTask)).toBe("in vision");
    expect(await create(taskRun, "/api/v1/models", { name: "new" })).toBe("in vision");
    const named = { name: "new", workspace: "default" };
    expect(await create(taskRun, "/api/v1/models", named)).toContain('workspace "default"');
  });

  test("reads checkpoints of its workspace of the moment only; others are not there", async () => {
    expect((await plan(near)).status).toBe(200);
    for (const uuid of [far, unnamed]) {
      const answer = await plan(uuid);
      expect(answer).toMatchObject({ status: 404, body: { code: "checkpoint_not_found" } });
      expect(answer.body["detail"]).toBe(`there is no checkpoint ${uuid}`);
    }
    await gateway.append("experiment-1", {
      type: "ExperimentMoved",
      data: { workspace: "hidden", project: "default" },
    } as AnyEvent);
    await expect.poll(async () => (await plan(far)).status).toBe(200);
    expect((await plan(near)).status).toBe(404);
  });
});

test("a model that a person creates by a registration is in the workspace of the checkpoint, or in the default one", async () => {
  const editor = await addUser(gateway, "ed", { role: "editor", workspace: "vision" });
  const viewer = await addUser(
    gateway,
    "vi",
    { role: "viewer", workspace: "vision" },
    { role: "editor", workspace: "default" },
  );
  const body = { checkpoint: near, createModel: true };
  const created = async ({ token }: { readonly token: string }) =>
    (await gateway.call("POST", "/api/v1/models/newer/versions", { body, token })).body["detail"];
  expect([await created(editor), await created(viewer)]).toEqual(["in vision", "in default"]);
});

test("the run of a task reads the checkpoints that its owner may see at that moment", async () => {
  expect((await plan(near, taskRun)).status).toBe(200);
  expect((await plan(far, taskRun)).status).toBe(404);
});
