import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { created, requested, taskCreated, trialCreated } from "../testing/example-events.ts";
import { addUser, type TestUser } from "../testing/people.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";
import { watching } from "../testing/watching.ts";

const checkpoint = "00000000-0000-4000-8000-000000000001";

let gateway: TestGateway;
let replica = "";
let admin: TestUser;
/** The user that owns everything; its name changes from olga to Zoe. */
let owner: TestUser;

beforeAll(async () => {
  gateway = await startTestGateway();
  admin = await addUser(gateway, "ada", { role: "cluster-admin" });
  owner = await addUser(gateway, "olga", { role: "cluster-admin" });
  replica = await gateway.startAnother();
  const by = "user:olga";
  await gateway.append("experiment-1", created({ owner: by }));
  await gateway.append("experiment-2", created({ owner: "user:ada" }));
  await gateway.append("experiment-3", created({ owner: "nina" }));
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  await gateway.append("task-t1", taskCreated({ owner: by, workspace: "default" }));
  const about = { description: "", notes: "", labels: [], workspace: "", by };
  await gateway.append("model-m", { type: "ModelCreated", data: about });
  await gateway.append("model-n", { type: "ModelCreated", data: { ...about, by: "user:ada" } });
  const declared = { trial: "1.1", run: 1, step: 1, format: "" };
  const summary = { manifestDigest: "d", files: 1, bytes: 1, trial: "1.1", run: 1, step: 1 };
  await gateway.append(
    `checkpoint-${checkpoint}`,
    { type: "CheckpointDeclared", data: declared },
    { type: "CheckpointCompleted", data: summary },
    { type: "CheckpointPinned", data: { by, holder: "", reason: "the paper" } },
  );
  const resources = { pool: "default", slots: 1, priority: 42, weight: 1, singleAgent: false };
  const queued = { preemptible: true, delayMs: 0, workspace: "default", owner: by };
  const position = await gateway.append("allocation-1.1#1", {
    type: "AllocationQueued",
    data: { task: "1.1", run: 1, job: "1", resources, ...queued },
  });
  const body = { name: "lab" };
  await gateway.call("POST", "/api/v1/workspaces", { body, token: owner.token });
  await gateway.call("POST", "/api/v1/workspaces/lab/projects", { body, token: owner.token });
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
  // The objects are older than the present name.
  await gateway.sql("update gateway.users set name = 'Zoe', name_key = 'zoe' where id = 'olga'");
  await gateway.append("user-olga", { type: "UserDescribed", data: { by: "user:ada" } });
}, 60_000);

afterAll(() => gateway[Symbol.asyncDispose]());

async function answerOf(path: string, url = gateway.url) {
  const headers = { authorization: `Bearer ${admin.token}` };
  const answer = await fetch(`${url}/api/v1/${path}`, { headers });
  return (await answer.json()) as Readonly<Record<string, unknown>>;
}

const found = async (list: string, filter: string, orderBy = ""): Promise<readonly unknown[]> => {
  const query = new URLSearchParams({ filter, orderBy });
  const answer = await answerOf(`${list}?${query}`);
  if (answer["items"] === undefined) throw new Error(String(answer["detail"]));
  return (answer["items"] as Readonly<Record<string, unknown>>[]).map(
    ({ id, name, job }) => id ?? name ?? job,
  );
};

describe("the current name of a person is shown", () => {
  test("within a second of a rename, at every replica", async () => {
    for (const url of [gateway.url, replica]) {
      const shown = async () => (await answerOf("experiments/1", url))["owner"];
      // No relay announces the event here, so each replica looks for it once a second.
      await expect.poll(shown, { timeout: 3_000 }).toBe("Zoe");
    }
  });

  test.each([
    ["experiments", { owner: "Zoe" }],
    ["tasks", { owner: "Zoe" }],
    ["tasks/t1", { owner: "Zoe" }],
    ["jobs", { owner: "Zoe" }],
    ["models", { createdBy: "Zoe" }],
    ["models/m", { createdBy: "Zoe" }],
    ["workspaces", { createdBy: "Zoe" }],
    ["workspaces/lab/projects", { createdBy: "Zoe" }],
    ["tokens?all=true", { owner: "Zoe" }],
    ["experiments/1/checkpoints", { holder: "Zoe", by: "Zoe" }],
  ])("in %s", async (path, shown) => {
    const text = JSON.stringify(await answerOf(path));
    expect(text).not.toContain("user:");
    for (const [field, name] of Object.entries(shown)) {
      expect(text).toContain(`${JSON.stringify(field)}:${JSON.stringify(name)}`);
    }
  });

  test("nowhere in events, which keep the id", async () => {
    const { items } = await answerOf("events:list?streams=experiment-1");
    expect(JSON.stringify(items)).toContain('"user:olga"');
  });

  test("in the frames of Watch", async () => {
    const topics = [{ kind: "experiments", filter: "owner = ZOE", position: "0" }];
    for await (const { frame } of watching({ ...gateway, token: admin.token }, { topics })) {
      const { document, experiment = document } = (frame["change"] ?? {}) as never;
      if (experiment === undefined) continue;
      expect(experiment).toMatchObject({ id: "1", owner: "Zoe" });
      return;
    }
  });
});

describe("a filter and an order", () => {
  test.each([
    ["owner = zoe", ["1"]],
    ["owner = Zoe", ["1"]],
    ["owner = user:olga", ["1"]],
    ["owner = olga", []],
    ["owner = nina", ["3"]],
    ["owner != zoe", ["3", "2"]],
    ["owner:z", ["1"]],
    ["owner:n", ["3"]],
    ["owner:*", ["3", "2", "1"]],
    ["owner = zoe or owner = ada", ["2", "1"]],
  ])("name persons by the current name: %s", async (filter, ids) => {
    expect(await found("experiments", filter)).toEqual(ids);
  });

  test("work in the lists of jobs, tasks, models, workspaces and projects", async () => {
    expect(await found("jobs", "owner = zoe")).toEqual(["1"]);
    expect(await found("tasks", "owner = zoe")).toEqual(["t1"]);
    expect(await found("models", "created_by = zoe")).toEqual(["m"]);
    expect(await found("workspaces", "created_by = zoe")).toEqual(["lab"]);
    expect(await found("workspaces/lab/projects", "created_by = zoe")).toEqual(["lab"]);
  });

  test("sort persons by the current name, on all pages", async () => {
    // In the order of the ids, olga would be behind nina.
    expect(await found("experiments", "", "owner desc")).toEqual(["3", "2", "1"]);
    expect(await found("experiments", "", "owner")).toEqual(["1", "2", "3"]);
    const pages: unknown[] = [];
    for (let pageToken = ""; ; ) {
      const page = await answerOf(`experiments?orderBy=owner&pageSize=1&pageToken=${pageToken}`);
      pages.push(...(page["items"] as { id: string }[]).map(({ id }) => id));
      pageToken = String(page["nextPageToken"]);
      if (pageToken === "") break;
    }
    expect(pages).toEqual(["1", "2", "3"]);
  });

  test("compare an owner by =, != and : only", async () => {
    await expect(found("experiments", "owner > zoe")).rejects.toThrow(/owner cannot be compared/);
  });
});
