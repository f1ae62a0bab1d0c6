import { codecOf } from "@trainyard/contracts";
import { PointSchema } from "@trainyard/contracts/commands";
import { createPostgresLog, type EventLog, newEventId } from "@trainyard/event-log";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { metricsLimits } from "./limits.ts";
import type { ListeningService } from "@trainyard/runtime";
import { reported, superseded } from "./testing/events.ts";
import { report, TestMetrics } from "./testing/test-metrics.ts";

let metrics: TestMetrics;
let service: ListeningService;
let trials = 0;

/** Creates a trial for one test and requests its first run. */
async function newTrial(): Promise<string> {
  trials += 1;
  const trial = `12.${trials}`;
  await metrics.request(trial, 1);
  return trial;
}

const measured = (trial: string) => metrics.stage.events(`measurement-${trial}`);

async function validations(trial: string): Promise<readonly string[]> {
  return (await measured(trial)).flatMap((event) =>
    event.type === "ValidationReported" ? [`${event.data.run} ${event.data.step}`] : [],
  );
}

beforeAll(async () => {
  metrics = await TestMetrics.start();
  service = await metrics.replica();
});

afterAll(() => metrics[Symbol.asyncDispose]());

describe("reports", () => {
  test("are stored when they are acknowledged, and validations are in the log", async () => {
    const trial = await newTrial();
    const reports = [report(1, "training", 10), report(2, "validation", 10, { accuracy: 0.9 })];
    const answer = await metrics.send(service, `${trial}#1`, { reports });
    expect(answer).toMatchObject({ status: 200, body: { accepted: 2 } });
    const { data } = reported(1, 10, { accuracy: 0.9 }, "0-2");
    expect(await measured(trial)).toEqual([
      { type: "ValidationReported", data: { ...data, trial } },
    ]);
    expect(await metrics.points(trial)).toEqual(["1 training 10", "1 validation 10"]);
  });

  test("that are repeated change nothing", async () => {
    const trial = await newTrial();
    const reports = [report(1, "training", 10), report(2, "validation", 10)];
    const send = () => metrics.send(service, `${trial}#1`, { reports });
    const answers = [await send(), ...(await Promise.all([send(), send(), send()]))];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await validations(trial)).toEqual(["1 10"]);
    expect(await metrics.points(trial)).toEqual(["1 training 10", "1 validation 10"]);
  });

  test("that are repeated do not read the log", async () => {
    const trial = await newTrial();
    let appends = 0;
    await using own = createPostgresLog({
      connectionString: metrics.stage.variables["TRAINYARD_POSTGRES_URL"] ?? "",
    });
    const log = withAppend(own, (request) => {
      appends += request.writes.length;
      return own.append(request);
    });
    const replica = await metrics.replica({ log });
    const reports = [1, 2, 3].map((n) => report(n, "validation", n));
    await metrics.send(replica, `${trial}#1`, { reports });
    expect(appends).toBe(3);
    reports.push(report(4, "validation", 4));
    expect(await metrics.send(replica, `${trial}#1`, { reports })).toMatchObject({
      body: { accepted: 4 },
    });
    expect(appends).toBe(4);
    await replica[Symbol.asyncDispose]();
  });

  test("sent to two replicas at once are stored once", async () => {
    const trial = await newTrial();
    const other = await metrics.replica();
    const reports = Array.from({ length: 20 }, (_, n) => report(n, "validation", n));
    const answers = await Promise.all(
      [service, other, service, other].map((to) => metrics.send(to, `${trial}#1`, { reports })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await validations(trial)).toSorted()).toEqual(
      reports.map(({ stepsCompleted }) => `1 ${stepsCompleted}`).toSorted(),
    );
    expect((await metrics.points(trial)).length).toBe(20);
    await other[Symbol.asyncDispose]();
  });

  test("with values that JSON does not have, or that are not numbers, are read back unchanged", async () => {
    const trial = await newTrial();
    const values = { a: "NaN", b: "-Infinity", c: 1e-300, note: "x", deep: { list: [1, null] } };
    const reports = [report(1, "validation", 1, values)];
    expect(await metrics.send(service, `${trial}#1`, { reports })).toMatchObject({ status: 200 });
    const scalars = { a: Number.NaN, b: Number.NEGATIVE_INFINITY, c: 1e-300 };
    const others = { note: "x", deep: { list: [1, null] } };
    expect((await metrics.page({ trial })).points).toMatchObject([{ scalars, others }]);
    expect(await measured(trial)).toMatchObject([{ data: { scalars } }]);
  });

  test("past a limit are refused alone if the sender asks for it, and the others are stored", async () => {
    const trial = await newTrial();
    const large = report(2, "training", 2, { text: "x".repeat(metricsLimits.metricsBytesMax) });
    const body = { reports: [report(1, "training", 1), large, report(3, "my group", 3)] };
    expect(await metrics.send(service, `${trial}#1`, { ...body, refuseAlone: true })).toMatchObject(
      {
        status: 200,
        body: {
          accepted: 2,
          refused: [{ key: "0-2", reason: expect.stringContaining("more than") }],
        },
      },
    );
    expect(await metrics.points(trial)).toEqual(["1 training 1", "1 my group 3"]);
    expect((await metrics.send(service, `${trial}#1`, body)).status).toBe(400);
  });

  test("of a rank other than the chief are stored, without a validation in the log", async () => {
    const trial = await newTrial();
    const reports = [0, 1, 2].map((rank) => ({
      ...report(rank, "validation", 10, { loss: rank }),
      ...{ key: `${rank}-1`, rank, aggregation: "max" },
    }));
    const answer = await metrics.send(service, `${trial}#1`, { reports });
    expect(answer).toMatchObject({ status: 200, body: { accepted: 3 } });
    const told = await metrics.stage.events(`measurement-${trial}`);
    expect(told).toMatchObject([{ type: "ValidationReported", data: { scalars: { loss: 0 } } }]);
    expect(await metrics.points(trial)).toHaveLength(3);
  });

  test("are announced on the bus once, after they are stored, by the last of each group", async () => {
    const trial = await newTrial();
    const heard: string[] = [];
    const bodies: unknown[] = [];
    const bus = metrics.stage.hub.connect("gateway");
    await using _tail = await bus.tailLive("ty.metric.>", ({ subject, body }) => {
      heard.push(subject);
      bodies.push(codecOf<object>(PointSchema).decode(new TextDecoder().decode(body)));
    });
    const reports = [report(3, "training", 9), report(1, "training", 10)];
    await metrics.send(service, `${trial}#1`, { reports });
    await metrics.send(service, `${trial}#1`, { reports });
    reports.push(report(2, "my.group", 10, { loss: "NaN", note: "x" }));
    await metrics.send(service, `${trial}#1`, { reports });
    const prefix = `ty.metric.12.${trial.replace(".", "%2E")}`;
    await vi.waitFor(() => expect(heard).toEqual([`${prefix}.training`, `${prefix}.my%2Egroup`]), {
      timeout: 90_000,
    });
    const point = { run: 1, stepsCompleted: 10, superseded: false };
    expect(bodies).toMatchObject([
      { ...point, group: "training", scalars: { loss: 0.5 }, others: {} },
      { ...point, group: "my.group", scalars: { loss: Number.NaN }, others: { note: "x" } },
    ]);
    await bus[Symbol.asyncDispose]();
  });
});

describe("a crash between the event and the row", () => {
  test("is repaired by a retry of the report", async () => {
    const trial = await newTrial();
    const pool = failingOnce("insert into metrics.tails");
    const dying = await metrics.replica({ pool });
    const reports = [report(1, "validation", 10), report(2, "training", 10)];
    const answer = await metrics.send(dying, `${trial}#1`, { reports });
    expect(answer).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(await validations(trial)).toEqual(["1 10"]);
    expect(await metrics.points(trial)).toEqual([]);
    await dying[Symbol.asyncDispose]();
    await pool.end();
    const again = await metrics.send(service, `${trial}#1`, { reports });
    expect(again).toMatchObject({ status: 200, body: { accepted: 2 } });
    expect(await validations(trial)).toEqual(["1 10"]);
    expect((await metrics.points(trial)).length).toBe(2);
  });
});

describe("a run that starts from a checkpoint", () => {
  test("supersedes what earlier runs measured beyond it, also when it starts from scratch", async () => {
    const trial = await newTrial();
    const reports = [0, 5, 10].map((step) => report(step, "validation", step));
    await metrics.send(service, `${trial}#1`, { reports });
    await metrics.request(trial, 2, 5, "checkpoint");
    await vi.waitFor(async () => expect((await measured(trial)).at(-1)).toEqual(superseded(2, 5)), {
      timeout: 90_000,
    });
    expect(await metrics.points(trial)).toEqual(["1 validation 0", "1 validation 5"]);
    expect(await metrics.points(trial, true)).toEqual([
      "1 validation 0",
      "1 validation 5",
      "1 validation 10 superseded",
    ]);
    await metrics.request(trial, 3, 0);
    await vi.waitFor(
      async () => expect((await measured(trial)).at(-1)).toEqual(superseded(3, -1)),
      {
        timeout: 90_000,
      },
    );
    expect(await metrics.points(trial)).toEqual([]);
  });

  test("may repeat a step: both reports are stored, and the later run's counts", async () => {
    const trial = await newTrial();
    await metrics.send(service, `${trial}#1`, { reports: [report(1, "validation", 10)] });
    await metrics.request(trial, 2, 5, "checkpoint");
    const repeat = await metrics.send(service, `${trial}#2`, {
      reports: [report(1, "validation", 10, { loss: 0.4 })],
    });
    expect(repeat.status).toBe(200);
    expect(await validations(trial)).toEqual(["1 10", "2 10"]);
    expect(await metrics.points(trial)).toEqual(["2 validation 10"]);
    expect((await metrics.points(trial, true)).length).toBe(2);
  });

  test("has an earlier run's late reports refused exactly for the steps that it repeats", async () => {
    const trial = await newTrial();
    await metrics.request(trial, 2, 5, "checkpoint");
    const late = [report(1, "validation", 5), report(2, "validation", 6), report(3, "training", 7)];
    const answer = await metrics.send(service, `${trial}#1`, { reports: late });
    expect(answer).toMatchObject({ status: 409, body: { code: "run_superseded" } });
    expect(await validations(trial)).toEqual(["1 5"]);
    expect(await metrics.points(trial, true)).toEqual(["1 validation 5"]);
  });

  test("supersedes a validation that is being appended at the same time", async () => {
    const trial = await newTrial();
    const own = createPostgresLog({
      connectionString: metrics.stage.variables["TRAINYARD_POSTGRES_URL"] ?? "",
    });
    let crossed = false;
    const log = withAppend(own, async (request) => {
      const stream = `measurement-${trial}`;
      if (!crossed && request.writes.some((write) => write.stream === stream)) {
        crossed = true;
        await metrics.request(trial, 2, 5, "checkpoint");
      }
      return own.append(request);
    });
    const slow = await metrics.replica({ log });
    const reports = [report(1, "validation", 10)];
    const answer = await metrics.send(slow, `${trial}#1`, { reports });
    expect(crossed).toBe(true);
    expect(answer).toMatchObject({ status: 409, body: { code: "run_superseded" } });
    expect(await validations(trial)).toEqual([]);
    expect(await metrics.points(trial, true)).toEqual([]);
    await slow[Symbol.asyncDispose]();
    await own[Symbol.asyncDispose]();
  });
});

describe("a request is refused", () => {
  test("without a token, with another run's or a forged token, and from a browser", async () => {
    const trial = await newTrial();
    const run = `${trial}#1`;
    const send = (options: Parameters<TestMetrics["send"]>[3]) =>
      metrics.send(service, run, { reports: [report(1, "training", 1)] }, options);
    const genuine = metrics.token(run);
    const forged = genuine.replace(
      /\.(\d+)\.([^.]+\.[^.]+)$/,
      (_, position: string, rest: string) => {
        return `.${Number(position) + 1}.${rest}`;
      },
    );
    expect(await send({ token: null })).toMatchObject({ status: 401, body: { code: "no_token" } });
    for (const token of [forged, `${genuine}A`, "ty_0123456789abcdef_x", "ty1.2.x.1.x"]) {
      expect(await send({ token })).toMatchObject({ status: 401, body: { code: "invalid_token" } });
    }
    expect(await send({ token: metrics.token("12.999#1") })).toMatchObject({
      status: 403,
      body: { code: "not_your_run" },
    });
    expect(await send({ token: metrics.token("t12#1") })).toMatchObject({
      status: 403,
      body: {
        code: "not_of_a_trial",
        detail: "t12#1 is a run of a task, and only runs of trials report metrics",
      },
    });
    expect(await send({ headers: { origin: "http://elsewhere.test" } })).toMatchObject({
      status: 403,
      body: { code: "cross_origin" },
    });
    expect(await metrics.points(trial)).toEqual([]);
  });

  test("for a run that is not in the log", async () => {
    await newTrial();
    const answer = await metrics.send(service, "99.1#1", { reports: [report(1, "training", 1)] });
    expect(answer).toMatchObject({ status: 404, body: { code: "run_not_found" } });
  });

  test("as a whole with one malformed report, whose path the answer names", async () => {
    const trial = await newTrial();
    const good = report(1, "training", 1);
    const cases: readonly (readonly [body: unknown, status: number, code: string])[] = [
      ["{", 400, "invalid_request"],
      [{ reports: [good, { ...good, key: "a\0b" }] }, 400, "invalid_request"],
      [{ reports: [good, report(2, "x", 1, { "a\0b": 1 })] }, 400, "invalid_request"],
      [{ reports: Array.from({ length: 1_001 }, () => good) }, 413, "too_many_reports"],
      [" ".repeat(metricsLimits.requestBytesMax + 1), 413, "body_too_large"],
    ];
    for (const [body, status, code] of cases) {
      const answer = await metrics.send(service, `${trial}#1`, body);
      expect(answer).toMatchObject({ status, body: { code, status } });
      expect(answer.headers.get("content-type")).toContain("application/problem+json");
    }
    expect(await metrics.points(trial)).toEqual([]);
  });
});

describe("before a replica knows a run's grant", () => {
  test("a report waits until the grant is known", async () => {
    const trial = await newTrial();
    const grantId = newEventId();
    const grantPosition = (await metrics.stage.head()) + 1;
    const token = metrics.token(`${trial}#1`, { grantPosition, grantId });
    const sent = metrics.send(
      service,
      `${trial}#1`,
      { reports: [report(1, "training", 1)] },
      { token },
    );
    await metrics.request(trial, 2, 5, "checkpoint", grantId);
    expect((await sent).status).toBe(200);
  });

  test("a report is refused after 2 s, and its sender is asked to retry", async () => {
    const trial = await newTrial();
    const grantPosition = (await metrics.stage.head()) + 1_000;
    const token = metrics.token(`${trial}#1`, { grantPosition, grantId: newEventId() });
    const started = performance.now();
    const answer = await metrics.send(
      service,
      `${trial}#1`,
      { reports: [report(1, "training", 1)] },
      { token },
    );
    expect(answer).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(performance.now() - started).toBeGreaterThan(1_900);
  });
});

test("the service reports its health", async () => {
  const read = async (path: string) => {
    const response = await fetch(`${service.address()}${path}`);
    return { status: response.status, text: await response.text() };
  };
  expect(await read("/livez")).toEqual({ status: 200, text: "ok\n" });
  expect(await read("/readyz")).toEqual({ status: 200, text: "ok\n" });
  const { text } = await read("/metrics");
  expect(text).toContain("trainyard_metrics_reports_acknowledged_total");
});

/** A connection pool whose first statement that contains this text fails before it reaches the database. */
function failingOnce(statement: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: metrics.stage.variables["TRAINYARD_POSTGRES_URL"] ?? "",
    max: 2,
  });
  const query = pool.query.bind(pool) as (...given: unknown[]) => Promise<unknown>;
  let failed = false;
  pool.query = (async (...given: unknown[]) => {
    if (!failed && JSON.stringify(given[0]).includes(statement)) {
      failed = true;
      throw new Error("the connection broke");
    }
    return query(...given);
  }) as typeof pool.query;
  return pool;
}

function withAppend(log: EventLog, append: EventLog["append"]): EventLog {
  return new Proxy(log, {
    get(target, property) {
      if (property === "append") return append;
      const value: unknown = Reflect.get(target, property);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
