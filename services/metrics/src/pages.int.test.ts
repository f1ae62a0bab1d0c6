import { assert } from "@trainyard/kernel";
import type { ListeningService } from "@trainyard/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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
