/** Tests of workspaces and projects over HTTP, with simulated services for experiments and models. */
import type { Plain } from "@trainyard/contracts";
import type {
  CreateExperiment,
  LabelExperiments,
  MoveExperiments,
} from "@trainyard/contracts/commands";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { created } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";
import { foldingServices } from "../cluster/verify.ts";
import { apiLimits } from "../limits.ts";

let gateway: TestGateway;
let stack: AsyncDisposableStack;
let submitted: Plain<CreateExperiment>[] = [];
let moved: Plain<MoveExperiments>[] = [];
let labelled: Plain<LabelExperiments>[] = [];
let models: unknown[] = [];

const allChanged = (ids: readonly string[]) =>
  ids.map((experiment) => ({ experiment, changed: true, code: "", detail: "" }));

beforeAll(async () => {
  gateway = await startTestGateway();
  stack = new AsyncDisposableStack();
  const model = async (request: unknown) => {
    models.push(request);
    return { position: 0, number: 0 };
  };
  stack.use(
    await gateway.serving("experiments", {
      CreateExperiment: async (request) => {
        submitted.push(request);
        const { workspace = "", project = "" } = request.place ?? {};
        const stream = `experiment-${submitted.length + 100}`;
        return { position: await gateway.append(stream, created({ workspace, project })), stream };
      },
      MoveExperiments: async (request) => {
        moved.push(request);
        return { position: 0, items: allChanged(request.experiments) };
      },
      LabelExperiments: async (request) => {
        labelled.push(request);
        return { position: 0, items: allChanged(request.experiments) };
      },
    }),
  );
  stack.use(
    await gateway.serving("registry", {
      CreateModel: model,
      MoveModel: model,
    }),
  );
  const words = { description: "", notes: "", labels: [], metadata: {}, by: "ada", workspace: "" };
  await gateway.append("model-iris", { type: "ModelCreated", data: words });
});
afterAll(async () => {
  await stack?.disposeAsync();
  await gateway?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  submitted = [];
  moved = [];
  labelled = [];
  models = [];
});

const api = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
  gateway.call(method, `/api/v1/${path}`, {
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
  });
const namesIn = (answer: Awaited<ReturnType<typeof api>>) =>
  (answer.body as { items: { name: string }[] }).items.map(({ name }) => name);

describe("a workspace", () => {
  test("is created, described, archived and unarchived, and its name is reserved in upper and lower case", async () => {
    const made = await api("POST", "workspaces", { name: "Vision", notes: "n" });
    expect(made).toMatchObject({
      status: 200,
      body: { workspace: { name: "Vision", notes: "n", archived: false, etag: '"0"' } },
    });
    expect(await api("POST", "workspaces", { name: "vision" })).toMatchObject({
      status: 409,
      body: { code: "workspace_exists", detail: "there is a workspace Vision already" },
    });
    const tag = { "if-match": '"0"' };
    const patched = await api("PATCH", "workspaces/VISION", { description: "d" }, tag);
    expect(patched.headers.get("etag")).toBe('"1"');
    expect((await api("PATCH", "workspaces/Vision", { description: "e" }, tag)).status).toBe(412);
    expect((await api("PATCH", "workspaces/Vision", { description: "d" }, tag)).status).toBe(200);
    expect((await api("POST", "workspaces/Vision/archive", { reason: "over" })).status).toBe(200);
    expect(namesIn(await api("GET", "workspaces"))).toEqual(["default"]);
    expect(namesIn(await api("GET", "workspaces?archived=true"))).toEqual(["default", "Vision"]);
    await api("POST", "workspaces/Vision/unarchive", {});
    expect(await api("GET", "workspaces/vision")).toMatchObject({
      body: { name: "Vision", description: "d", notes: "n", archived: false },
    });
  });

  test.each(["n", "ü", "中"])(
    "with the longest name, of %j, is read, renamed and archived",
    async (letter) => {
      const name = letter.repeat(255);
      const path = `workspaces/${encodeURIComponent(name)}`;
      expect((await api("POST", "workspaces", { name })).status).toBe(200);
      const project = await api("POST", `${path}/projects`, { name });
      expect(project.status).toBe(200);
      const inner = `${path}/projects/${encodeURIComponent(name)}`;
      expect(await api("GET", inner)).toMatchObject({ status: 200, body: { name } });
      expect((await api("PATCH", path, { notes: "n" })).status).toBe(200);
      expect((await api("POST", `${path}/archive`, {})).status).toBe(200);
    },
  );

  test("that several requests create at once is created by one of them only", async () => {
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => api("POST", "workspaces", { name: "race" })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
  });

  test("is created once if its creation is repeated with the same Idempotency-Key", async () => {
    const key = { "idempotency-key": "k1" };
    const first = await api("POST", "workspaces", { name: "again" }, key);
    const second = await api("POST", "workspaces", { name: "again" }, key);
    expect(second).toMatchObject({ status: 200, body: first.body });
  });

  test("named default always exists, with a project default, and cannot be changed", async () => {
    expect((await api("GET", "workspaces/Default")).body).toMatchObject({ name: "default" });
    expect((await api("GET", "workspaces/default/projects/default")).body).toMatchObject({
      workspace: "default",
      name: "default",
    });
    for (const [method, path] of [
      ["POST", "workspaces/default/archive"],
      ["PATCH", "workspaces/default"],
      ["POST", "workspaces/default/projects/default/archive"],
    ] as const) {
      expect(await api(method, path, {})).toMatchObject({
        status: 409,
        body: { code: "default_space" },
      });
    }
    expect((await api("POST", "workspaces", { name: "DEFAULT" })).status).toBe(409);
  });

  test("that is unknown is not found, and an invalid name is refused", async () => {
    for (const path of [
      "workspaces/none",
      "workspaces/none/projects",
      "workspaces/default/projects/none",
    ]) {
      expect((await api("GET", path)).status).toBe(404);
    }
    for (const name of ["", " a", "a\nb", "..", "x".repeat(300)]) {
      expect((await api("POST", "workspaces", { name })).status).toBe(400);
    }
  });
});

describe("a project", () => {
  test("has a name that is unique in its workspace, and is archived with its workspace", async () => {
    await api("POST", "workspaces", { name: "a" });
    await api("POST", "workspaces", { name: "b" });
    for (const workspace of ["a", "b"]) {
      expect((await api("POST", `workspaces/${workspace}/projects`, { name: "p/1" })).status).toBe(
        200,
      );
    }
    expect((await api("POST", "workspaces/a/projects", { name: "P/1" })).status).toBe(409);
    expect(namesIn(await api("GET", "workspaces/a/projects"))).toEqual(["default", "p/1"]);
    await api("PATCH", "workspaces/a/projects/p%2F1", { notes: "n" });
    await api("POST", "workspaces/a/archive", {});
    expect(await api("GET", "workspaces/a/projects/p%2F1")).toMatchObject({
      body: { workspace: "a", notes: "n", archived: true, etag: '"1"' },
    });
    expect(namesIn(await api("GET", "workspaces/a/projects"))).toEqual([]);
    expect(await api("POST", "workspaces/a/projects", { name: "late" })).toMatchObject({
      status: 409,
      body: { code: "workspace_archived" },
    });
    expect((await api("GET", "workspaces/b/projects/p%2F1")).body).toMatchObject({
      archived: false,
    });
  });
});

const config = (workspace: string, project: string) =>
  JSON.stringify({
    name: "iris",
    ...(workspace === "" ? {} : { workspace }),
    ...(project === "" ? {} : { project }),
    entrypoint: "python3 train.py",
    searcher: { name: "single", metric: "loss" },
    resources: { slots_per_trial: 0 },
  });

describe("a configuration", () => {
  test("names the workspace and project of its experiment; without them both are default", async () => {
    await api("POST", "workspaces", { name: "Lab" });
    await api("POST", "workspaces/Lab/projects", { name: "Flowers" });
    expect((await api("POST", "experiments", { config: config("lab", "flowers") })).status).toBe(
      200,
    );
    await api("POST", "experiments", { config: config("LAB", "") });
    const last = await api("POST", "experiments", { config: config("", "") });
    expect(submitted.map(({ place }) => place)).toMatchObject([
      { workspace: "Lab", project: "Flowers" },
      { workspace: "Lab", project: "default" },
      { workspace: "default", project: "default", workspaceId: "default", projectId: "default" },
    ]);
    expect(last.body).toMatchObject({ experiment: { workspace: "default", project: "default" } });
    const found = await api("GET", "experiments?workspace=lab&project=Flowers");
    expect((found.body as { items: unknown[] }).items).toHaveLength(1);
    const all = await api("GET", "experiments?workspace=default");
    expect((all.body as { items: unknown[] }).items).toHaveLength(1);
  });

  test.each([
    ["a missing workspace", "none", "", 400, "workspace_not_found", "workspace"],
    ["a missing project", "", "none", 400, "project_not_found", "project"],
    ["an archived workspace", "old", "", 409, "workspace_archived", "workspace"],
    ["an archived project", "", "old", 409, "project_archived", "project"],
  ])(
    "with %s is refused in a sentence, and nothing is created",
    async (_, workspace, project, status, code, path) => {
      await api("POST", "workspaces", { name: "old" });
      await api("POST", "workspaces/old/archive", {});
      await api("POST", "workspaces/default/projects", { name: "old" });
      await api("POST", "workspaces/default/projects/old/archive", {});
      const answer = await api("POST", "experiments", { config: config(workspace, project) });
      expect(answer).toMatchObject({ status, body: { code, errors: [{ path }] } });
      const body = { experiments: ["1"], workspace, project };
      expect((await api("POST", "experiments:move", body)).body).toMatchObject({ code });
      expect([submitted, moved]).toEqual([[], []]);
    },
  );
});

test("named experiments are moved into an existing project, and a repeated or too long list is refused", async () => {
  await api("POST", "workspaces", { name: "target" });
  const body = { experiments: ["1", "2"], workspace: "Target", dryRun: true };
  expect(await api("POST", "experiments:move", body)).toMatchObject({
    status: 200,
    body: { items: [{ experiment: "1", outcome: "changed" }, { experiment: "2" }] },
  });
  expect(moved).toMatchObject([
    { experiments: ["1", "2"], dryRun: true, place: { workspace: "target", project: "default" } },
  ]);
  expect((await api("POST", "experiments:move", { ...body, experiments: ["1", "1"] })).status).toBe(
    400,
  );
  const many = Array.from({ length: 10_001 }, (_, n) => String(n + 1));
  expect((await api("POST", "experiments:move", { ...body, experiments: many })).status).toBe(400);
});

test("labels of named experiments are changed in pieces, also in a preview", async () => {
  const { actedOnTogether } = apiLimits;
  const ids = Array.from({ length: actedOnTogether + 1 }, (_, n) => String(n + 1));
  const body = { experiments: ids, addLabels: ["prod"], removeLabels: ["old"], dryRun: true };
  const answer = await api("POST", "experiments:label", body);
  expect(answer.status).toBe(200);
  expect((answer.body as { items: unknown[] }).items).toHaveLength(ids.length);
  const words = { addLabels: ["prod"], removeLabels: ["old"], dryRun: true };
  expect(labelled).toEqual([
    { experiments: ids.slice(0, actedOnTogether), ...words },
    { experiments: ids.slice(actedOnTogether), ...words },
  ]);
  const twice = { ...body, experiments: ["1", "1"] };
  expect((await api("POST", "experiments:label", twice)).status).toBe(400);
});

test("an experiment without a place is in the default project, and a moved one where it was moved to", async () => {
  await gateway.append("experiment-1", created({}));
  const data = { workspace: "Vision", project: "cats" };
  const position = await gateway.append("experiment-2", created({}), {
    type: "ExperimentMoved",
    data,
  });
  const read = async (id: string) =>
    (await api("GET", `experiments/${id}?minPosition=${position}`)).body;
  expect(await read("1")).toMatchObject({ workspace: "default", project: "default" });
  expect(await read("2")).toMatchObject(data);
});

test("a model is created in a workspace and moved to another", async () => {
  await api("POST", "workspaces", { name: "Models" });
  expect((await api("POST", "models", { name: "iris", workspace: "models" })).status).toBe(200);
  expect((await api("POST", "models/iris/move", { workspace: "Models" })).status).toBe(200);
  expect((await api("POST", "models/iris/move", { workspace: "none" })).status).toBe(404);
  expect(models).toMatchObject([
    { model: "iris", place: { workspace: "Models" } },
    { model: "iris", place: { workspace: "Models" } },
  ]);
  const data = { workspace: "Models", by: "ada" };
  const position = await gateway.append("model-iris", { type: "ModelMoved", data });
  expect((await api("GET", `models/iris?minPosition=${position}`)).body).toMatchObject({
    workspace: "Models",
  });
});

test("a rebuild of the read model results in the same workspaces and projects", async () => {
  const before = await api("GET", "workspaces?archived=true");
  const { rows } = await gateway.sql(
    "select count(*)::int as n from gateway.documents where kind = 'project'",
  );
  expect((rows[0] as { n: number }).n).toBeGreaterThan(2);
  await using _services = await gateway.verifying(
    Object.fromEntries(foldingServices.map((service) => [service, [{ done: true, views: [] }]])),
  );
  const verified = await api("POST", "log:verify", {});
  expect(String(verified.body["text"])).toContain('"done":true');
  expect(String(verified.body["text"])).not.toContain("differs");
  expect(namesIn(await api("GET", "workspaces?archived=true"))).toEqual(namesIn(before));
});
