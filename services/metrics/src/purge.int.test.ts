/** Purging the reports of experiments that are deleted for good. */
import { createPostgresLog } from "@trainyard/event-log";
import { systemClock } from "@trainyard/kernel/system-clock";
import type { ListeningService } from "@trainyard/runtime";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { metricsLimits } from "./limits.ts";
import { purgeDeleted } from "./shell/purge.ts";
import { report, systemReport, TestMetrics } from "./testing/test-metrics.ts";

let metrics: TestMetrics;
let service: ListeningService;

beforeAll(async () => {
  metrics = await TestMetrics.start();
  service = await metrics.replica();
});
afterAll(() => metrics[Symbol.asyncDispose]());

const send = (trial: string, reports: readonly unknown[]) =>
  metrics.send(service, `${trial}#1`, { reports });

async function purge(aheadMs: number): Promise<void> {
  const connectionString = metrics.stage.variables["TRAINYARD_POSTGRES_URL"] ?? "";
  await using log = createPostgresLog({ connectionString });
  const pool = new pg.Pool({ connectionString, max: 1 });
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
  try {
    while (await purgeDeleted({ pool, log, clock })) {
      // purgeDeleted returns false after the last page of the log.
    }
  } finally {
    await pool.end();
  }
}

async function rowsOf(experiment: string): Promise<number> {
  const tables = ["tails", "blocks", "system_points", "system_totals", "names", "runs"];
  const counts = tables.map(
    (table) => `(select count(*) from metrics.${table} where trial like '${experiment}.%')`,
  );
  const [row] = await metrics.stage.sql<{ rows: string }>(`select ${counts.join("+")} as rows`);
  return Number(row?.rows);
}

test("the reports of a deleted experiment are purged after a delay, those of others are kept, and a late spool is refused", async () => {
  for (const trial of ["21.1", "21.2", "212.1", "22.1"]) {
    await metrics.request(trial, 1);
    await send(trial, [report(0, "training", 1), report(1, "validation", 1)]);
    await send(trial, [systemReport(2, 1, 50)]);
  }
  const others = [await rowsOf("212"), await rowsOf("22")];
  const before = await rowsOf("21");
  expect(before).toBeGreaterThan(6);
  const grace = { graceEndMs: 1, reason: "" };
  await metrics.stage.tell("experiment-21", { type: "ExperimentDeletionRequested", data: grace });
  await purge(metricsLimits.purgeAfterMs + 1_000);
  expect(await rowsOf("21")).toBe(before);
  // Reports during the grace are accepted: the deletion may be undone.
  expect((await send("21.1", [report(5, "training", 3)])).status).toBe(200);
  await metrics.stage.tell("experiment-21", { type: "ExperimentDeleted", data: {} });
  await metrics.stage.relay();
  await vi.waitFor(async () => {
    expect(await send("21.1", [report(9, "training", 9)])).toMatchObject({
      status: 404,
      body: { code: "run_not_found" },
    });
  });
  await purge(0);
  expect(await rowsOf("21")).toBeGreaterThan(0);
  await purge(metricsLimits.purgeAfterMs + 1_000);
  expect([await rowsOf("21"), await rowsOf("212"), await rowsOf("22")]).toEqual([0, ...others]);
  expect(await metrics.reports("21.1")).toEqual([]);
  const names = await metrics.stage.sql("select trial from metrics.runs order by trial");
  expect(names.map((row) => (row as { trial: string }).trial)).toEqual(["212.1", "22.1"]);
});

test("a purge whose last event the log does not have begins again, so it finds the deletions of a log that went back and grew", async () => {
  const trial = "31.1";
  await metrics.request(trial, 1);
  await send(trial, [report(0, "training", 1)]);
  await metrics.stage.tell("experiment-31", { type: "ExperimentDeleted", data: {} });
  const [head] = await metrics.stage.sql<{ position: string }>(
    "select max(position) as position from log.events",
  );
  const cursor = `insert into metrics.purged (position, event) values ($1, 'lost')
    on conflict (one) do update set position = excluded.position, event = excluded.event`;
  await metrics.stage.sql(cursor, [head?.position]);
  await purge(metricsLimits.purgeAfterMs + 1_000);
  expect(await rowsOf("31")).toBe(0);
});
