import type { ListeningService } from "@trainyard/runtime";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import pg from "pg";
import { decodeLedger } from "./core/columns/key-ledger.ts";
import { RunHeads } from "./shell/run-heads.ts";
import { inSnapshot, partsOf, reportsOf } from "./shell/stored-parts.ts";
import { report, systemReport, TestMetrics } from "./testing/test-metrics.ts";

let metrics: TestMetrics;
let service: ListeningService;
let trials = 0;

/** Creates a trial for one test and requests its first run. */
async function newTrial(): Promise<string> {
  trials += 1;
  const trial = `14.${trials}`;
  await metrics.request(trial, 1);
  return trial;
}

const send = (trial: string, reports: readonly unknown[], to = service, run = 1) =>
  metrics.send(to, `${trial}#${run}`, { reports });

const blocksOf = (trial: string) =>
  metrics.stage.sql<{ reports: number }>(
    "select reports from metrics.blocks where trial = $1 order by id",
    [trial],
  );

beforeAll(async () => {
  metrics = await TestMetrics.start();
  service = await metrics.replica();
});

afterAll(() => metrics[Symbol.asyncDispose]());

const keysOf = async (trial: string) => {
  const text = "select keys from metrics.runs where trial = $1";
  const [row] = await metrics.stage.sql<{ keys: Buffer }>(text, [trial]);
  return decodeLedger(row?.keys ?? Buffer.alloc(0));
};

describe("the keys of a run", () => {
  test("are one range per node, also with system samples between its reports", async () => {
    const trial = await newTrial();
    const all = Array.from({ length: 40 }, (_, n) =>
      n % 2 === 0 ? report(n, "training", n) : systemReport(n, n, 50),
    );
    await send(trial, all.slice(0, 21));
    await send(trial, all);
    expect([...(await keysOf(trial))]).toEqual([[0, [0, 39]]]);
    expect((await metrics.page({ trial })).points).toHaveLength(20);
    expect((await metrics.systemPage(trial)).points).toHaveLength(20);
    const [total] = (await metrics.profile(trial)).totals;
    expect(total?.samples).toBe(200);
  });

  test("are all known in a run that once had too many ranges", async () => {
    const trial = await newTrial();
    // Every second number: more ranges than a ledger keeps, so the last keys are loose.
    const torn = Array.from({ length: 4_200 }, (_, n) => report(2 * n + 1, "training", 2 * n));
    for (let start = 0; start < torn.length; start += 1_000) {
      await send(trial, torn.slice(start, start + 1_000));
    }
    const between = Array.from({ length: 500 }, (_, n) => report(2 * n + 2, "training", 2 * n + 1));
    await send(trial, between);
    const stored = async () => {
      const text = `select sum(reports)::integer as reports from (
        select trial, reports from metrics.tails union all select trial, reports from metrics.blocks
      ) as parts where trial = $1`;
      return (await metrics.stage.sql<{ reports: number }>(text, [trial]))[0]?.reports;
    };
    expect(await stored()).toBe(4_700);
    const fresh = await metrics.replica();
    for (const to of [service, fresh]) await send(trial, torn.slice(-100), to);
    expect(await stored()).toBe(4_700);
    await fresh[Symbol.asyncDispose]();
  });
});

test("all runs of one write are known, even if the cache is too small for them", async () => {
  const grant = { allocation: "", grantPosition: 1, grantId: "1" };
  const runs = [
    { trial: await newTrial(), run: 1, grant },
    { trial: await newTrial(), run: 1, grant },
  ];
  const connectionString = metrics.stage.variables["TRAINYARD_POSTGRES_URL"] ?? "";
  const pool = new pg.Pool({ connectionString, max: 1 });
  const heads = new RunHeads(pool, 1_000);
  for (const asked of [runs.slice(0, 1), runs, runs.toReversed()]) {
    expect(await heads.of(asked)).toMatchObject(
      asked.map(({ trial, run }) => ({ trial, run, grantId: "1" })),
    );
  }
  await pool.end();
});

describe("compaction", () => {
  test("does not change what is read", async () => {
    const trial = await newTrial();
    const values = (n: number) => ({
      loss: n % 7 === 0 ? "NaN" : 1 / (n + 1),
      ...(n % 3 === 0 ? { accuracy: n, note: `step ${n}`, table: [[n, "x"], { deep: null }] } : {}),
    });
    const all = Array.from({ length: 60 }, (_, n) =>
      report(n, n % 5 === 0 ? "validation" : "training", 1_000 - 10 * n, values(n)),
    );
    for (let start = 0; start < all.length; start += 7)
      await send(trial, all.slice(start, start + 7));
    const before = await metrics.reports(trial, false, 7);
    expect(before.length).toBe(60);
    await metrics.compact();
    expect((await blocksOf(trial)).map(({ reports }) => reports).toSorted()).toEqual([12, 48]);
    expect(await metrics.reports(trial, false, 7)).toEqual(before);
    expect(await metrics.reports(trial, false, 100)).toEqual(before);
    await send(trial, [report(60, "training", 5)]);
    expect((await metrics.reports(trial)).length).toBe(61);
  });

  test("keeps every key: a repeated report changes nothing, on any replica, also with a key of another form", async () => {
    const trial = await newTrial();
    const numbered = Array.from({ length: 20 }, (_, n) => report(n, "training", n));
    const named = ["a", "0-007", "x-1"].map((key, n) => ({ ...report(n, "validation", n), key }));
    const all = [...numbered, ...named];
    await send(trial, all);
    await metrics.compact();
    const before = await metrics.reports(trial);
    const fresh = await metrics.replica();
    for (const to of [service, fresh]) {
      expect(await send(trial, all.toReversed(), to)).toMatchObject({ body: { accepted: 23 } });
    }
    await metrics.compact();
    expect(await metrics.reports(trial)).toEqual(before);
    const validations = (await metrics.stage.events(`measurement-${trial}`)).length;
    expect(validations).toBe(3);
    await fresh[Symbol.asyncDispose]();
  });

  test("merges blocks of similar size, so that a run has few blocks", async () => {
    const trial = await newTrial();
    for (let round = 0; round < 8; round += 1) {
      await send(
        trial,
        [0, 1, 2, 3].map((n) => report(4 * round + n, "training", 4 * round + n)),
      );
      await metrics.compact();
    }
    expect((await blocksOf(trial)).map(({ reports }) => reports)).toEqual([32]);
    expect((await metrics.reports(trial)).length).toBe(32);
  });

  test("keeps superseded points, and a later run cuts a block at its start step", async () => {
    const trial = await newTrial();
    await send(
      trial,
      Array.from({ length: 538 }, (_, n) => report(n, "training", n)),
    );
    await metrics.compact();
    await metrics.request(trial, 2, 400, "checkpoint");
    await send(trial, [report(1, "training", 401, { loss: 2 })], service, 2);
    expect((await metrics.points(trial)).slice(-2)).toEqual(["1 training 400", "2 training 401"]);
    expect((await metrics.points(trial)).length).toBe(402);
    expect((await metrics.points(trial, true)).length).toBe(539);
    // The old run's spool arrives a day later.
    const again = Array.from({ length: 538 }, (_, n) => report(n, "training", n));
    expect((await send(trial, again)).status).toBe(409);
    await metrics.compact();
    expect((await metrics.points(trial, true)).length).toBe(539);
  });

  test("never changes the snapshot of a reader, while reports arrive and are repeated", async () => {
    const trial = await newTrial();
    const other = await metrics.replica();
    const all = Array.from({ length: 300 }, (_, n) => report(n, "training", (n * 7) % 300));
    let sending = true;
    const seen: number[] = [];
    const reading = (async () => {
      while (sending) seen.push((await metrics.reports(trial, false, 1_000)).length);
    })();
    const deliver = async (to: ListeningService) => {
      for (let start = 0; start < all.length; start += 20) {
        await send(trial, all.slice(Math.max(0, start - 10), start + 20), to);
        await metrics.stage.sql("update metrics.runs set due_at = now() where trial = $1", [trial]);
      }
    };
    try {
      await Promise.all([deliver(service), deliver(other), deliver(other)]);
      await metrics.compact();
    } finally {
      sending = false;
    }
    await reading;
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    const steps = (await metrics.page({ trial })).points.map(
      ({ stepsCompleted }) => stepsCompleted,
    );
    expect(steps).toEqual(Array.from({ length: 300 }, (_, n) => n));
    await other[Symbol.asyncDispose]();
  });

  test("deletes nothing that a running reader needs", async () => {
    const trial = await newTrial();
    await send(
      trial,
      Array.from({ length: 20 }, (_, n) => report(n, "training", n)),
    );
    const connectionString = metrics.stage.variables["TRAINYARD_POSTGRES_URL"] ?? "";
    const pool = new pg.Pool({ connectionString, max: 1 });
    const steps = await inSnapshot(pool, async (client) => {
      const parts = await partsOf(client, trial, null);
      await metrics.compact();
      return (await reportsOf(client, parts)).map(({ step }) => step);
    });
    await pool.end();
    expect(steps).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect((await blocksOf(trial)).length).toBe(1);
  });

  test("of a run that cannot be stored does not block other runs", async () => {
    const [bad, good] = [await newTrial(), await newTrial()];
    await metrics.stage.sql(
      `create function metrics.too_slow() returns trigger language plpgsql as
       $$ begin raise 'canceling statement due to statement timeout' using errcode = '57014'; end $$`,
    );
    await metrics.stage.sql(
      `create trigger too_slow before insert on metrics.blocks
       for each row when (new.trial = '${bad}') execute function metrics.too_slow()`,
    );
    try {
      for (const trial of [bad, good]) {
        await send(trial, [report(1, "training", 1)]);
        await metrics.stage.sql(
          "update metrics.runs set due_at = now() - interval '1 h' where trial = $1",
          [trial],
        );
      }
      await vi.waitFor(async () => expect(await blocksOf(good)).toHaveLength(1), {
        timeout: 30_000,
      });
    } finally {
      await metrics.stage.sql("drop function metrics.too_slow() cascade");
    }
    expect(await blocksOf(bad)).toEqual([]);
    await metrics.compact();
    expect(await blocksOf(bad)).toHaveLength(1);
  });

  test("of large values keeps blocks small", async () => {
    const trial = await newTrial();
    const text = "x".repeat(180_000);
    for (let n = 0; n < 20; n += 10) {
      await send(
        trial,
        Array.from({ length: 10 }, (_, i) => report(n + i, "note", n + i, { text })),
      );
    }
    await metrics.compact();
    expect((await blocksOf(trial)).length).toBeGreaterThan(1);
    expect((await metrics.reports(trial)).length).toBe(20);
  });
});

test("points are stored in a database of their own if one is configured, and validations in the log", async () => {
  await using own = await TestMetrics.start({});
  const { postgres } = own.stage;
  await own.stage.sql("create database points owner ty_metrics");
  const url = postgres.url({ database: "points", user: "ty_metrics" });
  const apart = await own.replica({}, { TRAINYARD_METRICS_POSTGRES_URL: url });
  await own.request("16.1", 1);
  const reports = [report(1, "training", 1), report(2, "validation", 1)];
  expect((await own.send(apart, "16.1#1", { reports })).status).toBe(200);
  expect(await own.points("16.1")).toEqual(["1 training 1", "1 validation 1"]);
  expect((await own.stage.events("measurement-16.1")).length).toBe(1);
  const here = "select from pg_tables where schemaname = 'metrics' and tablename = 'tails'";
  expect(await own.stage.sql(here)).toEqual([]);
});
