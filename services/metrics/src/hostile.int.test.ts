/**
 * Malformed requests, as no SDK sends them: each report is stored or refused with a reason, and the service continues.
 */
import { ReportService } from "@trainyard/contracts/api";
import type { ListeningService } from "@trainyard/runtime";
import { GrpcClient } from "@trainyard/runtime/grpc";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { report, TestMetrics } from "./testing/test-metrics.ts";

let metrics: TestMetrics;
let service: ListeningService;
let trials = 0;
let run = "";

beforeAll(async () => {
  metrics = await TestMetrics.start();
  service = await metrics.replica();
});

afterAll(() => metrics[Symbol.asyncDispose]());

beforeEach(async () => {
  trials += 1;
  await metrics.request(`17.${trials}`, 1);
  run = `17.${trials}#1`;
});

/** Sends bytes and returns the status; a refusal must have a reason. */
async function statusOf(body: string | Uint8Array<ArrayBuffer>, token = metrics.token(run)) {
  const url = `${service.address()}/api/v1/runs/${encodeURIComponent(run)}/reports`;
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const response = await fetch(url, { method: "POST", body, headers });
  const answer = (await response.json()) as Record<string, unknown>;
  if (response.status !== 200) {
    expect(response.status, JSON.stringify(answer)).toBeGreaterThanOrEqual(400);
    expect(response.status, JSON.stringify(answer)).toBeLessThan(500);
    expect(answer).toMatchObject({
      code: expect.stringMatching(/^[a-z_]+$/),
      detail: expect.stringMatching(/./),
    });
  }
  return response.status;
}

const stillServes = async () =>
  expect(await statusOf(JSON.stringify({ reports: [report(1, "training", 1)] }))).toBe(200);

const odd = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom("a\0", "\ud800", "__proto__", "NaN", -1, 0.5, 1e308, 2 ** 53, -(2 ** 63), ""),
);
const field = fc.constantFrom(
  ...["key", "group", "stepsCompleted", "atMs", "metrics", "rank", "aggregation", "system"],
);

test("no bytes and no report with an arbitrary value anywhere cause a fault", async () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((list) => Uint8Array.from(list));
  const changed = fc.tuple(field, odd, fc.boolean()).map(([name, value, refuseAlone]) => {
    const one = { ...report(1, "training", 1), [name]: value };
    return JSON.stringify({ reports: [one, report(2, "training", 2)], refuseAlone });
  });
  const named = fc.tuple(fc.string({ unit: "binary" }), odd).map(([name, value]) => {
    return JSON.stringify({ reports: [report(3, "training", 1, { [name]: value })] });
  });
  const any = fc.oneof(
    bytes,
    changed,
    named,
    fc.jsonValue().map((value) => JSON.stringify(value)),
  );
  await fc.assert(
    fc.asyncProperty(any, async (body) => {
      expect(await statusOf(body)).toBeLessThan(500);
    }),
    { numRuns: 200 },
  );
  await stillServes();
});

test.each([
  ["lists in lists", "[".repeat(100_000) + "]".repeat(100_000)],
  ["objects in objects", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`],
  ["a number beyond all doubles", "1e999999"],
  ["a number of many digits", "9".repeat(100_000)],
  ["a text that does not end", '"'],
])("a value of %s is stored or refused with a reason", async (_what, value) => {
  const one = JSON.stringify(report(1, "training", 1, { loss: "HERE" }));
  for (const reports of [`[${one.replace('"HERE"', value)}]`, value]) {
    expect(await statusOf(`{"reports":${reports}}`)).toBeLessThan(500);
  }
  await stillServes();
});

test("a request with another run's token stores nothing, whatever its body", async () => {
  const other = metrics.token("17.999#1");
  const bodies = fc.oneof(
    fc.constant(JSON.stringify({ reports: [report(1, "training", 1)] })),
    fc.jsonValue().map((value) => JSON.stringify(value)),
  );
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      expect(await statusOf(body, other)).toBe(403);
    }),
    { numRuns: 20 },
  );
  expect(await metrics.reports(`17.${trials}`)).toEqual([]);
});

test("malformed bytes over gRPC end their stream with a client error, and no other stream", async () => {
  // Bytes that are not proto3: wire types 3, 4, 6 and 7, and a length beyond the end of the message.
  for (const bytes of [[0x0f], [0x12, 0xff, 0xff, 0x03, 1], [0xff], [0x0b, 0x0c, 0x07]]) {
    using client = new GrpcClient(service.grpcAddress(), metrics.token(run));
    const stream = client.exchangeBytes(ReportService.method.streamReports);
    const ended = new Promise<{ readonly code?: number }>((resolve) => {
      stream.on("error", resolve).on("data", () => {});
    });
    stream.write(Buffer.from(bytes));
    expect([3, 13]).toContain((await ended).code);
  }
  await stillServes();
});

test("no query causes a fault, however malformed", async () => {
  const text = fc.oneof(
    fc.constantFrom(`17.${trials}`, "17", "", "step", "loss", "\0", "1e9.1", "__proto__"),
    fc.string({ unit: "binary", maxLength: 40 }),
  );
  const double = fc.oneof(fc.double(), fc.constantFrom(-1, 0.5, 2 ** 53, 1e308));
  const count = fc.nat({ max: 2 ** 32 - 1 });
  const one = fc.record({
    ...{ text, other: text, third: text, double, from: fc.option(double), count },
    list: fc.array(text, { maxLength: 5 }),
    flag: fc.boolean(),
  });
  const { stage } = metrics;
  await stillServes();
  await fc.assert(
    fc.asyncProperty(one, async ({ text: a, other: b, third: c, double: x, ...more }) => {
      const { from, count: limit, list, flag } = more;
      const bounds = from === null ? {} : { from, to: x };
      const flags = { superseded: flag, combined: flag };
      const series = { trials: [a, ...list], names: list, group: b, x: c, buckets: limit };
      const answers = await Promise.all([
        stage.ask("metrics", "QuerySeries", { ...series, ...bounds, ...flags }),
        stage.ask("metrics", "QueryStreamedPoints", {
          experiment: a,
          trial: b,
          group: c,
          after: x,
          limit,
        }),
        stage.ask("metrics", "QueryMetricNames", {
          trial: a,
          group: b,
          prefix: c,
          after: b,
          limit,
        }),
        stage.ask("metrics", "QueryPoints", {
          trial: a,
          group: b,
          superseded: flag,
          after: c,
          limit,
        }),
      ]);
      for (const answer of answers) {
        expect(["ok", "rejected"]).toContain(answer.kind);
        expect(answer).not.toMatchObject({ rejection: { rejected: "internal" } });
      }
    }),
    { numRuns: 100 },
  );
});

test("a group with U+0000, which PostgreSQL stores in no text, is refused", async () => {
  const trial = `17.${trials}`;
  const group = "a\0b";
  const refusal = { kind: "rejected", rejection: { rejected: "invalid_request" } };
  const asked = metrics.stage.ask("metrics", "QueryPoints", {
    limit: 10,
    trial,
    group,
    superseded: false,
    after: "",
  });
  expect(await asked).toMatchObject(refusal);
  const ofSystem = { limit: 10, trial, group, after: "" };
  expect(await metrics.stage.ask("metrics", "QuerySystemPoints", ofSystem)).toMatchObject(refusal);
  const streamed = { limit: 10, experiment: "17", trial: "", group, after: 0 };
  expect(await metrics.stage.ask("metrics", "QueryStreamedPoints", streamed)).toMatchObject(
    refusal,
  );
});
