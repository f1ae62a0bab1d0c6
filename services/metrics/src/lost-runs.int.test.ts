/** Reports of a run whose name a lost history gave before, in tables that did not go back with the log. */
import { createPostgresLog, newEventId } from "@trainyard/event-log";
import { systemClock } from "@trainyard/kernel/system-clock";
import { type ListeningService, LostRuns, RunGrants } from "@trainyard/runtime";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTables } from "./shell/run-tables.ts";
import { report, systemReport, TestMetrics } from "./testing/test-metrics.ts";

let metrics: TestMetrics;
let service: ListeningService;

beforeAll(async () => {
  metrics = await TestMetrics.start();
  service = await metrics.replica();
});
afterAll(() => metrics[Symbol.asyncDispose]());

const send = (trial: string, ...reports: readonly unknown[]) =>
  metrics.send(service, `${trial}#1`, { reports });

/** Makes what is stored of a run that of another grant, as if it had been stored before the log went back. */
async function makeLost(trial: string): Promise<void> {
  const text = "update metrics.runs set grant_id = $2, version = version + 1 where trial = $1";
  await metrics.stage.sql(text, [trial, newEventId()]);
}

async function sweep(): Promise<number> {
  const connectionString = metrics.stage.variables["TRAINYARD_POSTGRES_URL"] ?? "";
  await using log = createPostgresLog({ connectionString });
  const pool = new pg.Pool({ connectionString, max: 1 });
  const grants = new RunGrants(log, systemClock);
  const lost = new LostRuns({ pool, log, grants, tables: runTables });
  try {
    return await lost.sweep(new AbortController().signal);
  } finally {
    await pool.end();
  }
}

test.each([
  ["as they arrived", false],
  ["in compacted blocks", true],
])(
  "the first report of a run removes what a lost run of its name left %s, and its keys count as new",
  async (_what, isCompacted) => {
    const trial = isCompacted ? "41.1" : "42.1";
    const other = isCompacted ? "41.2" : "42.2";
    await metrics.request(trial, 1);
    await metrics.request(other, 1);
    const lost = [report(1, "training", 1, { lost: 42 }), report(2, "validation", 2, { loss: 42 })];
    await send(trial, ...lost, systemReport(3, 1, 42), {
      ...report(4, "training", 3),
      key: "loose",
    });
    await send(other, report(1, "training", 1));
    if (isCompacted) await metrics.compact();
    // The log gives the name again: the same process knows the run with its first grant.
    await metrics.request(trial, 1);
    expect((await send(trial, report(1, "training", 5, { loss: 7 }))).status).toBe(200);
    expect((await send(trial, { ...report(5, "training", 6), key: "loose" })).status).toBe(200);
    expect(await metrics.points(trial)).toEqual(["1 training 5", "1 training 6"]);
    expect((await metrics.systemPage(trial)).points).toEqual([]);
    expect((await metrics.profile(trial)).totals).toEqual([]);
    expect(await metrics.points(other)).toEqual(["1 training 1"]);
    if (isCompacted) await metrics.compact();
    expect(await metrics.points(trial)).toEqual(["1 training 5", "1 training 6"]);
  },
);

test("a reader of the stream that has read a lost run's points lists the points again", async () => {
  await metrics.request("43.1", 1);
  await send("43.1", report(1, "training", 1), report(2, "training", 2));
  const read = (after: number) =>
    metrics.stage.ask("metrics", "QueryStreamedPoints", {
      ...{ experiment: "43", trial: "", group: "", limit: 0 },
      after,
    });
  expect(await read(2)).toMatchObject({ kind: "ok", reply: { items: [] } });
  await metrics.request("43.1", 1);
  await send("43.1", report(1, "training", 9));
  for (const after of [0, 1, 2]) {
    expect(await read(after)).toMatchObject({ rejection: { rejected: "position_gone" } });
  }
});

test("a run that nobody repeats is removed if the log lacks its grant, and no run of a log that these tables do not belong to", async () => {
  await metrics.request("44.1", 1);
  await metrics.request("44.2", 1);
  for (const trial of ["44.1", "44.2"]) await send(trial, report(1, "training", 1));
  await metrics.stage.sql("delete from metrics.proven");
  expect(await sweep()).toBe(0);
  await makeLost("44.1");
  // The grants up to the event of `proven` were found: they are looked up again only if the log lacks that event.
  expect(await sweep()).toBe(0);
  await metrics.stage.sql("update metrics.proven set id = ''");
  expect(await sweep()).toBe(1);
  expect(await metrics.points("44.1")).toEqual([]);
  expect(await metrics.points("44.2")).toEqual(["1 training 1"]);
  await makeLost("44.2");
  await metrics.stage.sql("update metrics.proven set log = 'other', id = ''");
  await expect(sweep()).rejects.toMatchObject({ code: "other_log" });
  expect(await metrics.points("44.2")).toEqual(["1 training 1"]);
});
