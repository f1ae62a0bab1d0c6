/** Tests of the model registry in the public API, with a simulated registry service for its decisions. */
import type { AnyEvent, EventData } from "@trainyard/contracts";
import { reject } from "@trainyard/kernel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { created, searchStarted, trialCreated, validation } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
let position = 0;

const words = { description: "", notes: "", labels: [] as string[], by: "ada" };
const checkpoint = "aaaaaaaa-0000-4000-8000-000000000001";

function registered(number: number, more: Partial<EventData<"VersionRegistered">> = {}): AnyEvent {
  const of = { checkpoint, trial: "1.1", run: 1, step: number, semanticVersion: "" };
  return { type: "VersionRegistered", data: { ...of, metrics: {}, ...words, number, ...more } };
}

const moved = (alias: string, number: number, fromNumber = 0): AnyEvent => ({
  type: "AliasMoved",
  data: { alias, number, fromNumber, reason: `to ${number}`, by: "ada" },
});

beforeAll(async () => {
  gateway = await startTestGateway();
  const config = { data: { url: "s3://irises", api_key: "sk-of-the-data" } };
  await gateway.append("experiment-1", created({ contextDigest: "d".repeat(64), config }));
  await gateway.append("search-1", searchStarted());
  const trial = trialCreated(1);
  const hyperparameters = { lr: 0.1, optimizer: { name: "adam" } };
  await gateway.append("trial-1.1", { ...trial, data: { ...trial.data, hyperparameters } });
  const madeModel: AnyEvent = { type: "ModelCreated", data: { ...words, workspace: "research" } };
  position = await gateway.append(
    "model-iris",
    madeModel,
    registered(1, { metrics: { loss: 0.5, accuracy: 0.8 }, labels: ["prod"] }),
    registered(2, { metrics: { loss: 0.2, accuracy: Number.NaN }, semanticVersion: "1.0.0" }),
    registered(3, { metrics: { loss: 0.2, accuracy: 0.9 }, metadata: { dataset: "v2" } }),
    registered(4, { metrics: { loss: 0.1 } }),
    moved("champion", 2),
    moved("champion", 3, 2),
    { type: "VersionRemoved", data: { number: 4, checkpoint, reason: "broken", by: "ada" } },
  );
  const other: AnyEvent = { type: "ModelCreated", data: { ...words, workspace: "" } };
  const archived: AnyEvent = { type: "ModelArchived", data: { reason: "", by: "ada" } };
  await gateway.append("model-empty", other);
  await gateway.append("model-emoji", other, registered(1, { metrics: { "\u{1f984}": 0.5 } }));
  position = await gateway.append("model-old", { ...other }, archived);
}, 60_000);
afterAll(() => gateway?.[Symbol.asyncDispose]());

function get(path: string, query: Readonly<Record<string, string | readonly string[]>> = {}) {
  const all = { minPosition: String(position), ...query };
  const pairs = Object.entries(all).flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((one): [string, string] => [name, one]),
  );
  return gateway.call("GET", `/api/v1/models${path}?${new URLSearchParams(pairs).toString()}`);
}

async function numbers(path: string, query: Parameters<typeof get>[1] = {}) {
  const { body } = await get(path, query);
  return (body["items"] as readonly { number: number }[] | undefined)?.map(({ number }) => number);
}

test("no answer with a version has the secret of its data section", async () => {
  await using _registry = await gateway.serving("registry", {
    MoveAlias: async () => ({ position, number: 3 }),
  });
  const path = "/api/v1/models/iris/aliases/champion";
  const answers = [
    await get("/iris/versions"),
    await get("/iris/versions/3"),
    await get("/iris/versions:best", { metric: "loss", order: "min" }),
    await gateway.call("PUT", path, { body: { version: "3" } }),
  ];
  for (const { status, body } of answers) {
    const text = JSON.stringify(body);
    expect([status, text]).toEqual([200, expect.stringContaining("s3://irises")]);
    expect(text).not.toContain("sk-of-the-data");
  }
});

describe("the models", () => {
  test("are listed with filters and pages, archived ones only on request", async () => {
    const names = async (query: Parameters<typeof get>[1]) => {
      const { body } = await get("", query);
      return (body["items"] as readonly { name: string }[]).map(({ name }) => name);
    };
    expect(await names({})).toEqual(["emoji", "empty", "iris"]);
    expect(await names({ archived: "true" })).toEqual(["old", "emoji", "empty", "iris"]);
    expect(await names({ name: "ri" })).toEqual(["iris"]);
    const first = await get("", { pageSize: "1", archived: "true" });
    expect(first.body).toMatchObject({ items: [{ name: "old", archived: true }] });
    expect(
      await names({
        pageSize: "3",
        archived: "true",
        pageToken: String(first.body["nextPageToken"]),
      }),
    ).toEqual(["emoji", "empty", "iris"]);
  });
  test("have their aliases and the number of versions", async () => {
    const { body } = await get("/iris");
    expect(body).toMatchObject({
      name: "iris",
      versions: 3,
      latestNumber: 4,
      aliases: { champion: 3 },
      createdBy: "ada",
      workspace: "research",
    });
    expect(body).not.toHaveProperty("moves");
    expect(await get("/none")).toMatchObject({ status: 404, body: { code: "model_not_found" } });
  });
  test("list every move of an alias, the latest first", async () => {
    expect((await get("/iris/aliases")).body).toMatchObject({
      items: [
        { alias: "champion", number: 3, fromNumber: 2, reason: "to 3", by: "ada" },
        { alias: "champion", number: 2, reason: "to 2" },
      ],
    });
    expect((await get("/iris/aliases", { alias: "other" })).body["items"] ?? []).toEqual([]);
  });
});

describe("a model version", () => {
  test("is shown with its lineage by number, semantic version, alias and as the latest", async () => {
    const lineage = {
      model: "iris",
      checkpoint,
      experiment: "1",
      trial: "1.1",
      run: 1,
      hyperparameters: { lr: 0.1, optimizer: { name: "adam" } },
      data: { url: "s3://irises" },
      codeDigest: "d".repeat(64),
      searcherMetric: "loss",
      smallerIsBetter: true,
    };
    expect((await get("/iris/versions/1")).body).toMatchObject({ ...lineage, number: 1 });
    expect((await get("/iris/versions/1.0.0")).body).toMatchObject({ number: 2 });
    expect((await get("/iris/versions/champion")).body).toMatchObject({
      number: 3,
      aliases: ["champion"],
    });
    expect((await get("/iris/versions/latest")).body).toMatchObject({ number: 3 });
    expect((await get("/iris/versions/4")).body).toMatchObject({
      state: "REMOVED",
      reason: "broken",
    });
  });
  test.each(["5", "9.9.9", "toString", "..%2Fx", "%00", "1.0.0%00"])(
    "that is unknown is refused by name: %s",
    async (version) => {
      expect(await get(`/iris/versions/${version}`)).toMatchObject({
        status: 404,
        body: { code: "version_not_found" },
      });
    },
  );
  test("has metrics that its run reports after the registration", async () => {
    const report = validation({ step: 1, loss: 0.45 });
    const late = { ...report, data: { ...report.data, scalars: { loss: 0.45, f1: 0.7 } } };
    const otherRun = validation({ step: 1, loss: 9, run: 2 });
    position = await gateway.append("measurement-1.1", late, otherRun);
    expect((await get("/iris/versions/1")).body).toMatchObject({
      metrics: { loss: 0.45, accuracy: 0.8, f1: 0.7 },
    });
    expect(await numbers("/iris/versions", { where: "metrics.f1=0.7" })).toEqual([1]);
  });
});

describe("model versions", () => {
  test("are listed newest first in pages, without removed ones", async () => {
    expect(await numbers("/iris/versions")).toEqual([3, 2, 1]);
    const first = await get("/iris/versions", { pageSize: "2" });
    const pageToken = String(first.body["nextPageToken"]);
    expect(await numbers("/iris/versions", { pageSize: "2", pageToken })).toEqual([1]);
    expect(await get("/iris/versions", { pageToken: "x" })).toMatchObject({ status: 400 });
  });
  test.each([
    [["label=prod"], [1]],
    [["label!=prod"], [3, 2]],
    [["metadata.dataset=v2"], [3]],
    [
      ["hparams.lr<=0.1", "step>=2"],
      [3, 2],
    ],
    [
      ["hparams.optimizer.name=adam", "metrics.loss<0.3"],
      [3, 2],
    ],
    [["hparams.optimizer.name!=adam"], []],
    [["metrics.accuracy>0"], [3, 1]],
  ])("are found by %j", async (where, found) => {
    expect(await numbers("/iris/versions", { where })).toEqual(found);
  });
  test("are refused a condition without meaning, or one that names an unknown fact", async () => {
    expect(await get("/iris/versions", { where: "loss<1" })).toMatchObject({
      status: 400,
      body: { code: "invalid_request" },
    });
    expect(await get("/iris/versions", { where: "metrics.los<1" })).toMatchObject({
      status: 404,
      body: {
        code: "metric_not_found",
        detail: expect.stringContaining('"metrics.los": known names are accuracy, f1, loss'),
      },
    });
    const where = Array.from({ length: 17 }, () => "step>0");
    expect(await get("/iris/versions", { where })).toMatchObject({ status: 400 });
  });
});

describe("the best versions of a model", () => {
  const best = (query: Parameters<typeof get>[1]) => get("/iris/versions:best", query);

  test("are those of the search's metric, the oldest of equal ones first", async () => {
    expect((await best({ metric: "loss" })).body).toMatchObject({
      order: "min",
      items: [{ number: 2 }],
    });
    const three = { metric: "loss", limit: "3" };
    expect(await numbers("/iris/versions:best", three)).toEqual([2, 3, 1]);
    expect(await numbers("/iris/versions:best", { ...three, order: "max" })).toEqual([1, 2, 3]);
    const where = ["metadata.dataset=v2"];
    expect(await numbers("/iris/versions:best", { ...three, where })).toEqual([3]);
  });
  test("by another metric need a direction, and never include a value that is not a number", async () => {
    expect(await best({ metric: "accuracy" })).toMatchObject({
      status: 400,
      body: { code: "order_missing" },
    });
    const asked = { metric: "accuracy", order: "max", limit: "9" };
    expect(await numbers("/iris/versions:best", asked)).toEqual([3, 1]);
    expect(await best({ metric: "loss", order: "least" })).toMatchObject({ status: 400 });
  });
  test("by a metric with an emoji in its name are found", async () => {
    const asked = { metric: "\u{1f984}", order: "max" };
    expect(await numbers("/emoji/versions:best", asked)).toEqual([1]);
    expect(await numbers("/emoji/versions", { where: 'metrics."\u{1f984}">0.1' })).toEqual([1]);
  });
  test("by an unknown metric are refused with the known names", async () => {
    expect(await best({ metric: "accurcy" })).toMatchObject({
      status: 404,
      body: {
        code: "metric_not_found",
        detail:
          'no version of model iris has "metrics.accurcy": known names are accuracy, f1, loss',
      },
    });
    expect(await best({ metric: "\0" })).toMatchObject({ status: 404 });
    expect(await get("/empty/versions:best", { metric: "loss" })).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining("none has any") },
    });
    expect(await best({ metric: "loss", limit: "101" })).toMatchObject({ status: 400 });
  });
});

describe("model changes", () => {
  test("are decided by the registry, with the caller's identity; a run registers its trial's checkpoints", async () => {
    const asked: object[] = [];
    await using _registry = await gateway.serving("registry", {
      RegisterVersion: async (request, more) => {
        asked.push({ ...request, authid: more.authid });
        return { position: 0, number: 2 };
      },
      MoveAlias: async (request) =>
        reject("version_not_found", `model ${request.model} has no version ${request.version}`),
    });
    const body = { checkpoint, labels: ["a"], createModel: true };
    expect(await gateway.call("POST", "/api/v1/models/iris/versions", { body })).toMatchObject({
      status: 200,
      body: { version: { number: 2, semanticVersion: "1.0.0" } },
    });
    const token = await gateway.runToken("1.1#1");
    const own = await gateway.call("POST", "/api/v1/models/iris/versions", { body, token });
    expect(own.status).toBe(200);
    const wanted = { model: "iris", checkpoint, createModel: true, semanticVersion: "" };
    const words = { addLabels: ["a"], removeLabels: [] };
    const place = { workspace: "default", workspaceId: "default" };
    const given = { ...wanted, words, place: expect.objectContaining(place) };
    expect(asked).toEqual([
      { ...given, onlyTrial: "", authid: expect.any(String) },
      { ...given, onlyTrial: "1.1", authid: "run:1.1#1" },
    ]);
    const path = "/api/v1/models/iris/aliases/champion";
    expect(await gateway.call("PUT", path, { body: { version: "9" } })).toMatchObject({
      status: 404,
      body: { code: "version_not_found", detail: "model iris has no version 9" },
    });
  });
  test("other than a registration are refused for runs", async () => {
    const token = await gateway.runToken("1.1#1");
    for (const [method, path] of [
      ["POST", "/api/v1/models"],
      ["PUT", "/api/v1/models/iris/aliases/champion"],
      ["DELETE", "/api/v1/models/iris/versions/1"],
    ] as const) {
      const body = method === "DELETE" ? {} : { body: {} };
      expect(await gateway.call(method, path, { token, ...body })).toMatchObject({ status: 403 });
    }
  });
  test("with a reason in the query pass it to the registry", async () => {
    const asked: object[] = [];
    await using _registry = await gateway.serving("registry", {
      RemoveVersion: async (request) => {
        asked.push(request);
        return { position: 0, number: 4 };
      },
    });
    const path = "/api/v1/models/iris/versions/4?reason=old%20one";
    expect((await gateway.call("DELETE", path)).body).toMatchObject({
      version: { state: "REMOVED" },
    });
    expect(asked).toEqual([{ model: "iris", version: "4", reason: "old one" }]);
  });
  test("code of a version without code is refused by name", async () => {
    expect(await get("/iris/versions/1/code")).toMatchObject({
      status: 404,
      body: { code: "context_not_found" },
    });
  });
});

test("a rebuild of the read model results in the same documents, facts and rows of lists", async () => {
  const rows = async () => {
    const documents = await gateway.sql(
      "select id, doc from gateway.documents where kind in ('model', 'version', 'aliasMove') order by kind, id",
    );
    const facts = await gateway.sql("select * from gateway.version_facts order by 1, 2, 3");
    const lists = await gateway.sql("select * from gateway.model_rows order by id");
    const attributes = await gateway.sql("select * from gateway.attributes order by 1, 2, 3");
    return [documents, facts, lists, attributes].map((table) => table.rows);
  };
  const version = async () =>
    (await gateway.sql("select version from gateway.view_cursor where view = 'documents'")).rows;
  const before = [await rows(), await version()];
  await gateway.sql("update gateway.view_cursor set version = 0 where view = 'documents'");
  await gateway.startAnother();
  await expect
    .poll(async () => [await rows(), await version()], { timeout: 10_000 })
    .toEqual(before);
});
