import { once } from "node:events";
import { ReportService } from "@trainyard/contracts/api";
import type { ListeningService } from "@trainyard/runtime";
import { GrpcClient } from "@trainyard/runtime/grpc";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "./core/values.ts";
import { metricsLimits } from "./limits.ts";
import { report as reportOf, TestMetrics } from "./testing/test-metrics.ts";

let metrics: TestMetrics;
let service: ListeningService;
let trials = 0;
let trial = "";
let run = "";
const clients = new DisposableStack();

const { writeReports, streamReports } = ReportService.method;

function client(token = metrics.token(run)): GrpcClient {
  return clients.use(new GrpcClient(service.grpcAddress(), token));
}

const report = (n: number, group: string, step: number, values: JsonObject = { loss: 0.5 }) => ({
  ...reportOf(n, group, step),
  metrics: values,
});

type Failure = { readonly code: number; readonly metadata: { get(name: string): unknown[] } };

/** Awaits a failing call. Returns grpc-js's status and the problem's code. */
async function failureOf(call: Promise<unknown>): Promise<readonly unknown[]> {
  try {
    await call;
    return ["answered"];
  } catch (error) {
    const { code, metadata } = error as Failure;
    return [code, metadata.get("trainyard-code")[0]];
  }
}

beforeAll(async () => {
  metrics = await TestMetrics.start();
  service = await metrics.replica();
});

afterAll(async () => {
  clients.dispose();
  await metrics[Symbol.asyncDispose]();
});

beforeEach(async () => {
  trials += 1;
  trial = `16.${trials}`;
  run = `${trial}#1`;
  await metrics.request(trial, 1);
});

describe("a batch over gRPC", () => {
  test("is stored like one over HTTP, and a repeat over HTTP changes nothing", async () => {
    const values = { loss: 0.5, acc: "NaN", note: "x", table: [[1, "a"], { deep: null }] };
    const reports = [report(1, "training", 1, values), report(2, "validation", 2)];
    const answer = await client().call(writeReports, { run, reports });
    expect(answer).toMatchObject({ accepted: 2, refused: [] });
    const stored = await metrics.reports(trial);
    expect(stored).toHaveLength(2);
    expect(stored[0]).toEqual([
      1,
      "training",
      1,
      { loss: 0.5, acc: Number.NaN },
      { note: "x", table: [[1, "a"], { deep: null }] },
      false,
    ]);
    expect((await metrics.send(service, run, { reports })).status).toBe(200);
    await client().call(writeReports, { run, reports });
    expect(await metrics.reports(trial)).toEqual(stored);
    expect(await metrics.stage.events(`measurement-${trial}`)).toHaveLength(1);
  });

  test("is refused by the same rules as over HTTP, with the problem's code", async () => {
    const reports = [report(1, "training", 1)];
    expect(await failureOf(client("").call(writeReports, { run, reports }))).toEqual([
      16,
      "no_token",
    ]);
    expect(await failureOf(client("ty1.x").call(writeReports, { run, reports }))).toEqual([
      16,
      "invalid_token",
    ]);
    expect(await failureOf(client().call(writeReports, { run: "16.999#1", reports }))).toEqual([
      7,
      "not_your_run",
    ]);
    const many = Array.from({ length: 1_001 }, (_, n) => report(n, "training", n));
    expect(await failureOf(client().call(writeReports, { run, reports: many }))).toEqual([
      8,
      "too_many_reports",
    ]);
    const nameless = [report(1, "", 1)];
    expect(await failureOf(client().call(writeReports, { run, reports: nameless }))).toEqual([
      3,
      "invalid_request",
    ]);
    const alone = { run, reports: [...nameless, report(2, "training", 2)], refuseAlone: true };
    expect(await client().call(writeReports, alone)).toMatchObject({
      accepted: 1,
      refused: [{ key: "0-1" }],
    });
    const large = [report(3, "training", 3, { text: "x".repeat(metricsLimits.requestBytesMax) })];
    expect((await failureOf(client().call(writeReports, { run, reports: large })))[0]).toBe(8);
    expect(await metrics.reports(trial)).toHaveLength(1);
  });

  test("of a superseded step is refused like one over HTTP", async () => {
    await metrics.request(trial, 2, 5, "checkpoint");
    await vi.waitFor(
      async () => {
        const failure = await failureOf(
          client().call(writeReports, { run, reports: [report(1, "training", 6)] }),
        );
        expect(failure).toEqual([9, "run_superseded"]);
      },
      { timeout: 90_000 },
    );
  });
});

describe("a stream of batches over gRPC", () => {
  test("acknowledges each batch after its commit, in order, and names the refused reports", async () => {
    const stream = client().exchange(streamReports);
    const acknowledged: unknown[] = [];
    stream.on("data", ({ batch, accepted, refused, superseded }) =>
      acknowledged.push([batch, accepted, refused.length, superseded]),
    );
    for (let batch = 1; batch <= 30; batch += 1) {
      stream.write({
        batch,
        reports: [report(batch, "training", batch), report(900 + batch, "", 1)],
      });
    }
    await vi.waitFor(() => expect(acknowledged).toHaveLength(30), { timeout: 90_000 });
    expect(await metrics.reports(trial)).toHaveLength(30);
    stream.write({ batch: 31, reports: [report(1, "training", 1)] });
    stream.end();
    await once(stream, "end");
    expect(acknowledged).toEqual(
      Array.from({ length: 31 }, (_, index) => [index + 1, 1, index === 30 ? 0 : 1, 0]),
    );
    expect(await metrics.reports(trial)).toHaveLength(30);
  });

  test("returns the number of reports that a later run supersedes, and stores the others", async () => {
    await metrics.request(trial, 2, 5, "checkpoint");
    await metrics.send(service, `${trial}#2`, { reports: [report(1, "training", 6)] });
    const stream = client().exchange(streamReports);
    const answer = once(stream, "data");
    stream.write({ batch: 7, reports: [report(1, "training", 5), report(2, "training", 6)] });
    const [{ batch, accepted, superseded }] = await answer;
    expect([batch, accepted, superseded]).toEqual([7, 1, 1]);
    stream.end();
    stream.resume();
    await once(stream, "end");
  });

  test("ends with an error status if a batch cannot be stored, and a retry on another replica stores it", async () => {
    await metrics.stage.sql("alter table metrics.tails rename to tails_away");
    const stream = client().exchange(streamReports);
    const failed = once(stream.resume(), "error").catch((error: unknown) => [error]);
    stream.on("error", () => {});
    const reports = [report(1, "training", 1)];
    stream.write({ batch: 1, reports });
    const [error] = await failed;
    await metrics.stage.sql("alter table metrics.tails_away rename to tails");
    expect(error).toMatchObject({ code: 14 });
    expect(await client().call(writeReports, { run, reports })).toMatchObject({ accepted: 1 });
    expect(await metrics.reports(trial)).toHaveLength(1);
  });

  test("applies backpressure to a sender that is faster than the commits", async () => {
    const stream = client().exchange(streamReports);
    stream.resume();
    const text = "x".repeat(100_000);
    let sent = 0;
    let isHeld = false;
    // All commits wait for this lock.
    const release = await metrics.hold("lock table metrics.tails in exclusive mode");
    for (; sent < 2_000 && !isHeld; sent += 1) {
      const reports = [report(sent, "training", sent, { text })];
      if (!stream.write({ batch: sent + 1, reports })) {
        isHeld = await Promise.race([
          once(stream, "drain").then(() => false),
          new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 1_000)),
        ]);
      }
    }
    expect(isHeld).toBe(true);
    await release();
    stream.end();
    await once(stream, "end");
    expect(await metrics.reports(trial)).toHaveLength(sent);
  });
});
