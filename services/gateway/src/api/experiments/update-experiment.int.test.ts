/** Tests of PATCH of an experiment, its ETag and If-Match, with simulated services. */
import type { Plain } from "@trainyard/contracts";
import type { DescribeExperiment } from "@trainyard/contracts/commands";
import { reject } from "@trainyard/kernel";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { created } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
let asked: unknown[] = [];
let stack: AsyncDisposableStack;

beforeAll(async () => {
  gateway = await startTestGateway();
  stack = new AsyncDisposableStack();
  const position = await gateway.append("experiment-1", created({ labels: ["a"] }));
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
  stack.use(
    await gateway.serving("experiments", {
      DescribeExperiment: describeIt,
    }),
  );
  const accepted = { position: 0, stream: "" };
  stack.use(
    await gateway.serving("scheduler", {
      UpdateJob: async (request) => {
        asked.push(request);
        return accepted;
      },
    }),
  );
  stack.use(
    await gateway.serving("checkpoint-gc", {
      SetRetentionPolicy: async (request) => {
        asked.push(request);
        return accepted;
      },
    }),
  );
});
afterAll(async () => {
  await stack?.disposeAsync();
  await gateway?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  asked = [];
});

let revision = 0;

/** Simulates the experiments service: it checks the revision, and stores every name. */
async function describeIt(request: Plain<DescribeExperiment>) {
  asked.push(request);
  const { name = "", notes = "", ifRevision } = request;
  if (ifRevision !== undefined && ifRevision !== revision) return reject("stale_revision", "stale");
  revision += 1;
  const data = { name, description: "", notes, labels: request.addLabels, revision };
  const position = await gateway.append("experiment-1", { type: "ExperimentDescribed", data });
  return { position, stream: "experiment-1" };
}

const patch = (body: object, headers: Readonly<Record<string, string>> = {}) =>
  gateway.call("PATCH", "/api/v1/experiments/1", { body, headers });

test("a changed name and notes are in the answer and in later reads, with a new ETag", async () => {
  const before = await gateway.call("GET", "/api/v1/experiments/1");
  expect(before.headers.get("etag")).toBe('"0"');
  expect(before.body).toMatchObject({ notes: "", etag: '"0"', labels: ["a"] });
  const after = await patch({ name: "better", notes: "n", addLabels: ["b"] });
  expect(after).toMatchObject({ status: 200, body: { experiment: { name: "better" } } });
  expect(after.headers.get("etag")).toBe('"1"');
  const read = await gateway.call("GET", "/api/v1/experiments/1");
  expect(read.body).toMatchObject({ name: "better", notes: "n", labels: ["b"], etag: '"1"' });
  expect(asked).toEqual([
    { experiment: "1", name: "better", notes: "n", addLabels: ["b"], removeLabels: [] },
  ]);
});

test("a change with the latest ETag in If-Match is made, and with an older one refused with 412", async () => {
  const etag = String((await gateway.call("GET", "/api/v1/experiments/1")).headers.get("etag"));
  expect((await patch({ notes: "first" }, { "if-match": etag })).status).toBe(200);
  expect(await patch({ notes: "second" }, { "if-match": etag })).toMatchObject({
    status: 412,
    body: { code: "stale_revision", title: "Precondition Failed" },
  });
  const read = await gateway.call("GET", "/api/v1/experiments/1");
  expect(read.body).toMatchObject({ notes: "first" });
  expect((await patch({ notes: "third" }, { "if-match": "*" })).status).toBe(200);
});

test("an If-Match of another resource is stale, and an invalid one is refused", async () => {
  expect((await patch({ notes: "n" }, { "if-match": '"elsewhere"' })).status).toBe(412);
  for (const wrong of ["3", 'W/"3"', '"1", "2"', ""]) {
    expect((await patch({ notes: "n" }, { "if-match": wrong })).status).toBe(400);
  }
  expect(asked).toEqual([]);
});

test("a repeated PATCH with the same Idempotency-Key has the first answer and its ETag", async () => {
  const headers = { "idempotency-key": "same" };
  const first = await patch({ notes: "once" }, headers);
  const again = await patch({ notes: "once" }, headers);
  expect(again.body).toEqual(first.body);
  expect(again.headers.get("etag")).toBe(first.headers.get("etag"));
  expect(asked).toHaveLength(1);
});

test("a PATCH of the queue or the retention is sent to the service that decides it", async () => {
  expect((await patch({ priority: 7, maxSlots: 0 })).status).toBe(200);
  const gcPolicy = { saveExperimentBest: 1, saveTrialBest: 2, saveTrialLatest: 3 };
  expect((await patch({ gcPolicy, reason: "disk" })).status).toBe(200);
  expect(asked).toEqual([
    { job: "1", priority: 7, maxSlots: 0 },
    { experiment: "1", policy: gcPolicy, reason: "disk" },
  ]);
});

test("a PATCH for several services at once, or for none, is refused and changes nothing", async () => {
  const refused = { status: 400, body: { code: "invalid_request" } };
  expect(await patch({})).toMatchObject(refused);
  expect(await patch({ name: "n", priority: 7 })).toMatchObject(refused);
  expect(await patch({ gcPolicy: {}, addLabels: ["x"] })).toMatchObject(refused);
  expect(await patch({ priority: 7 }, { "if-match": '"1"' })).toMatchObject(refused);
  expect(asked).toEqual([]);
});

test.each([
  { name: 5 },
  { labels: ["x"] },
  { addLabels: "x" },
  { notes: null, addLabels: [null] },
  { priority: "soon" },
  { name: "\ud800" },
  { notes: "'; drop table gateway.documents; --\0" },
])("no PATCH body causes a 500: %j", async (body) => {
  const { status } = await patch(body);
  expect([200, 400]).toContain(status);
  expect((await gateway.call("GET", "/api/v1/experiments/1")).status).toBe(200);
});

test("a PATCH of an unknown experiment is not found", async () => {
  for (const id of ["none", "1.1", "1%00"]) {
    const answer = await gateway.call("PATCH", `/api/v1/experiments/${id}`, {
      body: { name: "n" },
    });
    expect(answer).toMatchObject({ status: 404, body: { code: "experiment_not_found" } });
  }
});
