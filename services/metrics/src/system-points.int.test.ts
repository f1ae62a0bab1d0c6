import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ListeningService } from "@trainyard/runtime";
import { report, systemReport, TestMetrics } from "./testing/test-metrics.ts";

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

beforeAll(async () => {
  metrics = await TestMetrics.start();
  service = await metrics.replica();
});

afterAll(() => metrics[Symbol.asyncDispose]());

describe("a report of system metrics", () => {
  const totalOf = (profile: Awaited<ReturnType<TestMetrics["profile"]>>) =>
    profile.totals.map(({ run, node, samples, value }) => ({
      run,
      node,
      samples,
      ...value,
      name: value?.name,
    }));

  test("is stored apart from the training's metrics, whatever its group is named", async () => {
    const trial = await newTrial();
    const own = report(1, "cpu", 3, { utilization_percent: 99 });
    const answer = await metrics.send(service, `${trial}#1`, {
      reports: [own, systemReport(2, 3, 50), report(3, "validation", 3)],
    });
    expect(answer).toMatchObject({ status: 200, body: { accepted: 3 } });
    expect(await metrics.points(trial)).toEqual(["1 cpu 3", "1 validation 3"]);
    const told = await metrics.stage.events(`measurement-${trial}`);
    expect(told.map(({ type }) => type)).toEqual(["ValidationReported"]);
    const { points } = await metrics.systemPage(trial);
    expect(points.map(({ group, sample }) => [group, sample?.values[0]?.mean])).toEqual([
      ["cpu", 50],
    ]);
  });

  test("counts once, however often it is sent", async () => {
    const trial = await newTrial();
    const other = await metrics.replica();
    const reports = [systemReport(1, 1, 10), systemReport(2, 1, 30), systemReport(1, 1, 50, 1)];
    const send = (to: ListeningService) => metrics.send(to, `${trial}#1`, { reports });
    const answers = await Promise.all([service, other, service, other].map(send));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const whole = { run: 1, name: "utilization_percent" };
    expect(totalOf(await metrics.profile(trial))).toEqual([
      { ...whole, node: 0, samples: 20, min: 9, mean: 20, max: 31 },
      { ...whole, node: 1, samples: 10, min: 49, mean: 50, max: 51 },
    ]);
    await other[Symbol.asyncDispose]();
  });

  test("is kept beyond the step that a later run starts from, even if it arrives late, and is not mixed with that run's samples", async () => {
    const trial = await newTrial();
    await metrics.send(service, `${trial}#1`, {
      reports: [report(1, "training", 10), systemReport(2, 10, 20)],
    });
    await metrics.request(trial, 2, 5, "checkpoint");
    await metrics.send(service, `${trial}#2`, { reports: [systemReport(1, 6, 80)] });
    const late = await metrics.send(service, `${trial}#1`, {
      reports: [report(3, "training", 11), systemReport(4, 11, 40)],
    });
    expect(late).toMatchObject({ status: 409, body: { code: "run_superseded" } });
    expect(await metrics.points(trial)).toEqual([]);
    const [first, second] = [
      await metrics.profile(trial, { run: 1 }),
      await metrics.profile(trial),
    ];
    expect([...totalOf(first), ...totalOf(second)].map(({ run, mean }) => ({ run, mean }))).toEqual(
      [
        { run: 1, mean: 30 },
        { run: 2, mean: 80 },
      ],
    );
    expect(second).toMatchObject({ run: 2, runs: [1, 2] });
    const { points } = await metrics.systemPage(trial);
    expect(points.map(({ run, stepsCompleted }) => [run, stepsCompleted])).toEqual([
      [2, 6],
      [1, 10],
      [1, 11],
    ]);
  });

  test("is returned page by page in the order of time, and by group", async () => {
    const trial = await newTrial();
    const reports = Array.from({ length: 25 }, (_, n) => systemReport(25 - n, 1, n));
    await metrics.send(service, `${trial}#1`, {
      reports: [...reports, { ...systemReport(99, 1, 7), group: "gpu" }],
    });
    const times: number[] = [];
    let after = "";
    do {
      const page = await metrics.systemPage(trial, { group: "cpu", after, limit: 10 });
      times.push(...page.points.map(({ atMs }) => atMs));
      after = page.next;
    } while (after !== "");
    expect(times).toEqual(reports.map(({ atMs }) => atMs).toSorted());
    expect((await metrics.systemPage(trial, { group: "gpu" })).points.length).toBe(1);
  });

  test("has a profile of bounded answers, whatever the number of runs, nodes and devices", async () => {
    const trial = await newTrial();
    const text = (count: string, letter: string) => `repeat('${letter}', ${count}) || n`;
    await metrics.stage.sql(
      `insert into metrics.system_totals (trial, run, node, group_name, device, name, samples, total, min, max)
       select $1, run, n, ${text("250", "g")}, ${text("250", "d")}, ${text("60", "n")}, 1, 1, 1, 1
       from generate_series(1, 3) as run, generate_series(1, 1000) as n`,
      [trial],
    );
    await metrics.stage.sql(
      `insert into metrics.system_totals (trial, run, node, group_name, device, name, samples, total, min, max)
       select $1, n, 0, 'cpu', '', 'load', 1, 1, 1, 1 from generate_series(4, 3000) as n`,
      [trial],
    );
    const { run, runs } = await metrics.profile(trial);
    expect([run, runs.length, runs[0], runs.at(-1)]).toEqual([3_000, 1_000, 2_001, 3_000]);
    const nodes: number[] = [];
    let after = "";
    do {
      const page = await metrics.profile(trial, { run: 2, after });
      nodes.push(...page.totals.map(({ node }) => node));
      expect(page.totals.length).toBeLessThanOrEqual(400);
      after = page.next;
    } while (after !== "");
    expect(nodes).toEqual(Array.from({ length: 1_000 }, (_, n) => n + 1));
    const wrong = { trial, run: 4_294_967_295, after: "x", limit: 0 };
    const answer = await metrics.stage.ask("metrics", "QueryProfile", wrong);
    expect(answer).toMatchObject({ rejection: { rejected: "invalid_request" } });
    expect((await metrics.profile(trial, { run: 4_294_967_295 })).totals).toEqual([]);
  });

  test("is returned with the pace of the training", async () => {
    const trial = await newTrial();
    const atMs = 1_700_000_000_000;
    const reports = [0, 30, 60].map((step) => ({
      ...report(step, "training", step),
      atMs: atMs + 500 * step,
    }));
    await metrics.send(service, `${trial}#1`, { reports });
    const pace = { run: 1, steps: 60, seconds: 30 };
    expect((await metrics.profile(trial, { run: 1 })).pace).toEqual(pace);
    await metrics.request(trial, 2, 60, "checkpoint");
    await metrics.send(service, `${trial}#2`, { reports: [report(1, "training", 61)] });
    expect((await metrics.profile(trial, { run: 2 })).pace).toBeUndefined();
  });
});
