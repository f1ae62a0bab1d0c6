import { assert, Fault } from "@trainyard/kernel";
import type { ListeningService } from "@trainyard/runtime";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readReports } from "./shell/report-pages.ts";
import { report, TestMetrics } from "./testing/test-metrics.ts";

let metrics: TestMetrics;
let service: ListeningService;
let trials = 0;

/** Creates a trial for one test and requests its first run. */
async function newTrial(): Promise<string> {
  trials += 1;
  const trial = `17.${trials}`;
  await metrics.request(trial, 1);
  return trial;
}

beforeAll(async () => {
  metrics = await TestMetrics.start();
  service = await metrics.replica();
});

afterAll(() => metrics[Symbol.asyncDispose]());

describe("a query", () => {
  test("returns every point once, page by page, in order", async () => {
    const trial = await newTrial();
    const reports = Array.from({ length: 25 }, (_, n) => report(n, "training", 24 - n));
    await metrics.send(service, `${trial}#1`, { reports });
    await metrics.send(service, `${trial}#1`, { reports: [report(99, "validation", 7)] });
    const steps: number[] = [];
    let after = "";
    do {
      const page = await metrics.page({ trial, group: "training", after, limit: 10 });
      expect(page.points.length).toBeLessThanOrEqual(10);
      steps.push(...page.points.map(({ stepsCompleted }) => stepsCompleted));
      after = page.next;
    } while (after !== "");
    expect(steps).toEqual(Array.from({ length: 25 }, (_, n) => n));
  });

  test("of large points ends a page at its limit of bytes, below its limit of points", async () => {
    const trial = await newTrial();
    const text = "x".repeat(190_000);
    const reports = Array.from({ length: 5 }, (_, n) => report(n, "note", n, { text }));
    await metrics.send(service, `${trial}#1`, { reports });
    const first = await metrics.page({ trial });
    expect(first.points.length).toBe(3);
    const second = await metrics.page({ trial, after: first.next });
    expect(second).toMatchObject({ points: [{ stepsCompleted: 3 }, { stepsCompleted: 4 }] });
    expect(second.next).toBe("");
  });

  test("of points with long names ends a page at its limit of bytes, and so does the stream", async () => {
    const trial = await newTrial();
    const name = "€".repeat(250);
    const reports = Array.from({ length: 1_000 }, (_, n) => ({
      ...report(n, name, n),
      key: `${n}${name}`,
    }));
    expect((await metrics.send(service, `${trial}#1`, { reports })).status).toBe(200);
    expect(await metrics.reports(trial, false, 1_000)).toHaveLength(1_000);
    const query = { experiment: "17", trial, group: "", limit: 0, after: 0 };
    const answer = await metrics.stage.ask("metrics", "QueryStreamedPoints", query);
    assert(answer.kind === "ok", `the stream is read: ${JSON.stringify(answer)}`);
    expect(answer.reply).toMatchObject({ more: true });
    expect(answer.reply.items.length).toBeGreaterThan(100);
  });

  test("returns the position that it reflects, and refuses an invalid cursor", async () => {
    const trial = await newTrial();
    const page = await metrics.page({ trial });
    expect(page).toMatchObject({ points: [], next: "" });
    await expect(metrics.page({ trial, after: "nonsense" })).rejects.toThrow("invalid_request");
    await expect(metrics.page({ trial: "x" })).rejects.toThrow("trial_not_found");
  });
});

describe("a trial that reports everything at one step", () => {
  test("is read in pages that cost no more than others, each point once, in the order of its reports", async () => {
    const trial = await newTrial();
    const requests = Array.from({ length: 100 }, (_, request) => ({
      reports: Array.from({ length: 1_000 }, (__, n) => report(request * 1_000 + n, "training", 0)),
    }));
    for (const request of requests) {
      expect((await metrics.send(service, `${trial}#1`, request)).status).toBe(200);
    }
    const keys: string[] = [];
    const pagesMs: number[] = [];
    let after = "";
    do {
      const beganMs = performance.now();
      const page = await metrics.page({ trial, after, limit: 1_000 });
      pagesMs.push(performance.now() - beganMs);
      keys.push(...page.points.map(({ key }) => key));
      after = page.next;
    } while (after !== "");
    expect(keys).toEqual(Array.from({ length: 100_000 }, (_, n) => `0-${n}`));
    expect(pagesMs.toSorted((a, b) => a - b)[50]).toBeLessThan(500);
  }, 120_000);

  test("is read no further once the caller has given up", async () => {
    const trial = await newTrial();
    for (let request = 0; request < 3; request += 1) {
      // Keys without a number are in the order of their texts, so a page has to look at all parts.
      const reports = Array.from({ length: 1_000 }, (_, n) => ({
        ...report(n, "training", 0),
        key: `${n}x${request}`,
      }));
      await metrics.send(service, `${trial}#1`, { reports });
    }
    const query = { trial, group: null, after: null, limit: 10, lastStep: () => 0 };
    let reads = 0;
    const throwIfLate = (): void => {
      reads += 1;
      if (reads === 2) throw new Fault("too_late", "the caller has given up", { retry: "later" });
    };
    const connectionString = metrics.stage.variables["TRAINYARD_POSTGRES_URL"] ?? "";
    const pool = new pg.Pool({ connectionString, max: 1 });
    try {
      await expect(readReports(pool, { ...query, throwIfLate })).rejects.toThrow("given up");
      expect(reads).toBe(2);
      const { reports } = await readReports(pool, { ...query, throwIfLate: () => {} });
      const keys = reports.map(({ key }) => key);
      expect(keys.slice(0, 4)).toEqual(["0x0", "0x1", "0x2", "100x0"]);
    } finally {
      await pool.end();
    }
  });
});

test("reported progress is an event of the trial, once in 10 s", async () => {
  const trial = await newTrial();
  const send = (key: number, atMs: number, value: number) =>
    metrics.send(service, `${trial}#1`, {
      reports: [{ ...report(key, "progress", 0, { progress: value }), atMs }],
    });
  await send(0, 1_000, 0.25);
  await send(1, 10_999, 0.3);
  await send(2, 11_000, 0.459);
  await send(2, 11_000, 0.459);
  expect(await metrics.stage.events(`measurement-${trial}`)).toMatchObject([
    { type: "ProgressReported", data: { run: 1, percent: 25, atMs: 1_000 } },
    { type: "ProgressReported", data: { run: 1, percent: 45, atMs: 11_000 } },
  ]);
});

test("an alert is an event of the trial, once, and a report without a title is none", async () => {
  const trial = await newTrial();
  const alert = { title: "loss is NaN", text: "at step 3", level: "error" };
  const reports = [
    { ...report(0, "alert", 0), metrics: alert },
    { ...report(1, "alert", 0), metrics: { note: "no title" } },
  ];
  for (let i = 0; i < 2; i += 1) await metrics.send(service, `${trial}#1`, { reports });
  expect(await metrics.stage.events(`measurement-${trial}`)).toMatchObject([
    {
      type: "AlertRaised",
      data: { trial, run: 1, title: "loss is NaN", text: "at step 3", level: 4, reportKey: "0-0" },
    },
  ]);
});
