import { assert } from "@trainyard/kernel";
import type { ListeningService } from "@trainyard/runtime";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { metricsLimits } from "./limits.ts";
import { sweepStreams } from "./shell/stream-table.ts";
import { report, TestMetrics } from "./testing/test-metrics.ts";

let metrics: TestMetrics;
let service: ListeningService;
let experiments = 20;

/** Creates an experiment for one test, with some trials whose first runs are requested. */
async function newTrials(count = 1): Promise<readonly string[]> {
  experiments += 1;
  const trials = Array.from({ length: count }, (_, index) => `${experiments}.${index + 1}`);
  for (const trial of trials) await metrics.request(trial, 1);
  return trials;
}

const send = (trial: string, reports: readonly unknown[], to = service, run = 1) =>
  metrics.send(to, `${trial}#${run}`, { reports });

type Asked = {
  readonly after?: number;
  readonly trial?: string;
  readonly group?: string;
  readonly limit?: number;
};

function ask(experiment: string, { after, trial = "", group = "", limit = 0 }: Asked = {}) {
  const query = { experiment, trial, group, limit, ...(after === undefined ? {} : { after }) };
  return metrics.stage.ask("metrics", "QueryStreamedPoints", query);
}

async function page(experiment: string, asked: Asked = {}) {
  const answer = await ask(experiment, asked);
  assert(answer.kind === "ok", `the stream is read: ${JSON.stringify(answer)}`);
  return answer.reply;
}

type Item = Awaited<ReturnType<typeof page>>["items"][number];

/** Names an item: "12.3#1 0-7" for a point, "run 2 after 400" for a supersession. */
const nameOf = ({ trial, point, superseded }: Item): string =>
  superseded === undefined
    ? `${trial}#${point?.run} ${point?.key}`
    : `run ${superseded.run} after ${superseded.afterStep}`;

/** Reads all items after a position, page by page. */
async function readOn(experiment: string, asked: Asked & { readonly after: number }) {
  const items: Item[] = [];
  for (let { after } = asked; ; ) {
    const { items: own, next, more } = await page(experiment, { ...asked, after });
    items.push(...own);
    after = next;
    if (!more) return { items, next };
  }
}

const experimentOf = (trial: string): string => trial.split(".")[0] ?? "";

beforeAll(async () => {
  metrics = await TestMetrics.start();
  service = await metrics.replica();
});

afterAll(() => metrics[Symbol.asyncDispose]());

describe("the stream of an experiment's points", () => {
  test("has each report once, at consecutive positions, for any page size and filter", async () => {
    const [a = "", b = ""] = await newTrials(2);
    const experiment = experimentOf(a);
    await send(a, [report(1, "training", 1), report(2, "validation", 1), report(3, "training", 2)]);
    await send(b, [report(1, "training", 1)]);
    await send(a, [report(3, "training", 2), report(4, "training", 3)]);
    const { items, next } = await readOn(experiment, { after: 0 });
    expect(items.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5]);
    expect(items.map(nameOf).toSorted()).toEqual(
      [`${a}#1 0-1`, `${a}#1 0-2`, `${a}#1 0-3`, `${a}#1 0-4`, `${b}#1 0-1`].toSorted(),
    );
    expect(next).toBe(5);
    const single = await readOn(experiment, { after: 0, limit: 1 });
    expect(single.items).toEqual(items);
    expect((await readOn(experiment, { after: 3 })).items).toEqual(items.slice(3));
    const ofB = await readOn(experiment, { after: 0, trial: b });
    expect([ofB.items.map(nameOf), ofB.next]).toEqual([[`${b}#1 0-1`], 5]);
    const validations = await readOn(experiment, { after: 0, group: "validation" });
    expect(validations.items.map(nameOf)).toEqual([`${a}#1 0-2`]);
  });

  test("starts at the position of a list's pages, or at its head without a position", async () => {
    const [trial = ""] = await newTrials();
    const experiment = experimentOf(trial);
    expect(await page(experiment)).toEqual({ items: [], next: 0, more: false });
    expect(await page(experiment, { after: 0 })).toEqual({ items: [], next: 0, more: false });
    await send(trial, [report(1, "training", 1), report(2, "training", 2)]);
    expect(await page(experiment)).toMatchObject({ items: [], next: 2, more: false });
    const { streamPosition } = await metrics.page({ trial });
    await send(trial, [report(3, "training", 3)]);
    const { items } = await readOn(experiment, { after: streamPosition });
    expect(items.map(nameOf)).toEqual([`${trial}#1 0-3`]);
  });

  test("starts at the position that a series has for each experiment", async () => {
    const [trial = ""] = await newTrials();
    const [other = ""] = await newTrials();
    const series = async (trials: readonly string[]) => {
      const asked = { trials, group: "training", names: ["loss"], x: "step", buckets: 10 };
      const request = { ...asked, superseded: false, combined: false };
      const answer = await metrics.stage.ask("metrics", "QuerySeries", request);
      if (answer.kind !== "ok") throw new Error(JSON.stringify(answer));
      return answer.reply;
    };
    await send(trial, [report(1, "training", 1), report(2, "training", 2)]);
    await send(other, [report(1, "training", 1)]);
    const { streamPositions } = await series([trial, other]);
    expect(streamPositions).toEqual({ [experimentOf(trial)]: 2, [experimentOf(other)]: 1 });
    for (const one of [trial, other]) {
      await send(one, [report(3, "training", 3)]);
      const { items } = await readOn(experimentOf(one), {
        after: streamPositions[experimentOf(one)] ?? 0,
      });
      expect(items.map(nameOf)).toEqual([`${one}#1 0-3`]);
    }
  });

  test("has no gaps and no repeats for a reader, while two replicas write and compact", async () => {
    const trials = await newTrials(4);
    const experiment = experimentOf(trials[0] ?? "");
    const another = await metrics.replica();
    const expected = trials.flatMap((trial) =>
      Array.from({ length: 120 }, (_, n) => `${trial}#1 0-${n}`),
    );
    let writing = true;
    const writers = trials.map(async (trial) => {
      for (let n = 0; n < 120; n += 3) {
        const some = [n, n + 1, n + 2].map((key) => report(key, "training", 120 - key));
        const answers = await Promise.all([send(trial, some), send(trial, some, another)]);
        for (const { status } of answers) expect(status).toBe(200);
      }
    });
    const compacting = (async () => {
      while (writing) {
        // Rows are updated one at a time: a single update of several rows could deadlock with the writers.
        for (const trial of trials) {
          await metrics.stage.sql("update metrics.runs set due_at = now() where trial = $1", [
            trial,
          ]);
        }
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    })();
    const heard: Item[] = [];
    const reading = (async () => {
      for (let after = 0; heard.length < expected.length || writing; ) {
        const { items, next } = await page(experiment, { after, limit: 50 });
        heard.push(...items);
        after = next;
      }
    })();
    await Promise.all(writers);
    writing = false;
    await Promise.all([compacting, reading]);
    expect(heard.map(({ position }) => position)).toEqual(expected.map((_, index) => index + 1));
    expect(heard.map(nameOf).toSorted()).toEqual(expected.toSorted());
    await metrics.compact();
    expect((await readOn(experiment, { after: 0 })).items).toEqual(heard);
    await another[Symbol.asyncDispose]();
  });

  test("returns no position before all lower ones are committed", async () => {
    const [trial = ""] = await newTrials();
    const experiment = experimentOf(trial);
    await send(trial, [report(1, "training", 1)]);
    const database = new pg.Client({
      connectionString: metrics.stage.variables["TRAINYARD_POSTGRES_URL"],
    });
    await database.connect();
    // A slow commit of another replica.
    await database.query("begin");
    await database.query(
      "update metrics.streams set position = position + 1 where experiment = $1",
      [experiment],
    );
    const sent = send(trial, [report(2, "training", 2)]);
    const waiting = () =>
      metrics.stage.sql("select from pg_stat_activity where wait_event_type = 'Lock'");
    await vi.waitFor(async () => expect(await waiting()).not.toEqual([]), { timeout: 90_000 });
    expect((await readOn(experiment, { after: 0 })).items.length).toBe(1);
    await database.query("commit");
    await sent;
    const { items } = await readOn(experiment, { after: 1 });
    expect(items.map(({ position }) => position)).toEqual([3]);
    await database.end();
  });

  test("has a later run's start once, and returns points that it supersedes as superseded", async () => {
    const [trial = ""] = await newTrials();
    const experiment = experimentOf(trial);
    await send(trial, [report(1, "training", 400), report(2, "training", 537)]);
    await metrics.request(trial, 2, 400, "checkpoint");
    const items = await vi.waitFor(
      async () => {
        const all = (await readOn(experiment, { after: 0 })).items;
        expect(all.length).toBe(3);
        return all;
      },
      { timeout: 90_000 },
    );
    await send(trial, [report(1, "training", 450)], service, 2);
    expect(items.map(nameOf)).toEqual([`${trial}#1 0-1`, `${trial}#1 0-2`, "run 2 after 400"]);
    expect(items.map(({ point }) => point?.superseded)).toEqual([false, true, undefined]);
    await metrics.request(trial, 3);
    await vi.waitFor(
      async () => {
        const later = await readOn(experiment, { after: 3 });
        expect(later.items.map(nameOf)).toEqual([`${trial}#2 0-1`, "run 3 after -1"]);
      },
      { timeout: 90_000 },
    );
  });

  test("refuses a position whose next entries are removed, and a position beyond its head", async () => {
    const [trial = ""] = await newTrials();
    const experiment = experimentOf(trial);
    await send(trial, [report(1, "training", 1), report(2, "training", 2)]);
    await metrics.compact();
    await send(trial, [report(3, "training", 3)]);
    expect((await readOn(experiment, { after: 0 })).items.length).toBe(3);
    const age = `update metrics.past_tails set compacted_at = now() - interval '2 hours' where experiment = $1`;
    await metrics.stage.sql(age, [experiment]);
    const pool = new pg.Pool({
      connectionString: metrics.stage.variables["TRAINYARD_POSTGRES_URL"],
      max: 1,
    });
    await sweepStreams(pool);
    await pool.end();
    for (const after of [0, 1, 4]) {
      const refused = await ask(experiment, { after });
      expect(refused).toMatchObject({ kind: "rejected", rejection: { rejected: "position_gone" } });
    }
    expect((await readOn(experiment, { after: 2 })).items.map(nameOf)).toEqual([`${trial}#1 0-3`]);
    expect(await metrics.reports(trial)).toHaveLength(3);
  });

  test("keeps compacted reports until the time limit", async () => {
    const [trial = ""] = await newTrials();
    await send(trial, [report(1, "training", 1)]);
    await metrics.compact();
    const pool = new pg.Pool({
      connectionString: metrics.stage.variables["TRAINYARD_POSTGRES_URL"],
      max: 1,
    });
    await sweepStreams(pool);
    await pool.end();
    expect(metricsLimits.streamKeptMs).toBeGreaterThan(600_000);
    expect((await readOn(experimentOf(trial), { after: 0 })).items).toHaveLength(1);
  });

  test("has no new entry when a spool is resent a day later, to any replica", async () => {
    const [trial = ""] = await newTrials();
    const spool = [report(1, "training", 400), report(2, "validation", 537)];
    await send(trial, spool);
    await metrics.compact();
    await metrics.stage.sql(
      "update metrics.past_tails set compacted_at = now() - interval '1 day' where experiment = $1",
      [experimentOf(trial)],
    );
    const pool = new pg.Pool({
      connectionString: metrics.stage.variables["TRAINYARD_POSTGRES_URL"],
      max: 1,
    });
    await sweepStreams(pool);
    await pool.end();
    const [before, head] = [await metrics.reports(trial), await page(experimentOf(trial))];
    const another = await metrics.replica();
    for (const replica of [service, another]) {
      expect((await send(trial, spool, replica)).status).toBe(200);
    }
    expect(await metrics.reports(trial)).toEqual(before);
    expect(head).toMatchObject({ items: [], next: spool.length, more: false });
    expect(await page(experimentOf(trial), { after: head.next })).toEqual(head);
    await another[Symbol.asyncDispose]();
  });
});
