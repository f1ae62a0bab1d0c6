import type { Plain } from "@trainyard/contracts";
import type { QuerySeries } from "@trainyard/contracts/commands";
import type { ListeningService } from "@trainyard/runtime";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bucketsOf } from "./core/series/buckets.ts";
import { metricsLimits } from "./limits.ts";
import { report, TestMetrics } from "./testing/test-metrics.ts";

let metrics: TestMetrics;
let service: ListeningService;
let trials = 0;

/** Creates a trial for one test and requests its first run. */
async function newTrial(): Promise<string> {
  trials += 1;
  const trial = `15.${trials}`;
  await metrics.request(trial, 1);
  return trial;
}

const send = (trial: string, reports: readonly unknown[], run = 1) =>
  metrics.send(service, `${trial}#${run}`, { reports });

async function ask(query: Partial<Plain<QuerySeries>>) {
  const whole = { trials: [], group: "", names: ["loss"], x: "", buckets: 0, ...query };
  const request = { superseded: false, combined: false, ...whole };
  return metrics.stage.ask("metrics", "QuerySeries", request);
}

async function series(query: Partial<Plain<QuerySeries>>) {
  const answer = await ask(query);
  return answer.kind === "ok" ? answer.reply.series : answer;
}

/** Copies the blocks of a trial to trials 16.1, 16.2, … */
const copyOfTrial = (trial: string, copies: number): string => `
  with made as (
    insert into metrics.blocks
      (trial, run, group_name, reports, bytes, first_step, last_step, first_key, last_key, first_at_ms, last_at_ms, frame)
    select '16.' || n, run, group_name, reports, bytes, first_step, last_step, first_key, last_key, first_at_ms,
      last_at_ms, frame
    from metrics.blocks, generate_series(1, ${copies}) n where trial = '${trial}'
    returning id, first_step)
  insert into metrics.columns
  select made.id, kind, name, points, min, max, first, last, nans, infinities, body
  from made join metrics.blocks original on original.trial = '${trial}' and original.first_step = made.first_step
  join metrics.columns on columns.block = original.id`;

type RawPoint = Awaited<ReturnType<TestMetrics["page"]>>["points"][number];
type PointsOfTrial = readonly RawPoint[];

/** Returns all points of the trials, one trial after the other; they are listed once. */
async function rawPoints(
  trials: readonly string[],
  superseded: boolean,
  listed: Map<string, PointsOfTrial>,
): Promise<readonly RawPoint[]> {
  const found: RawPoint[] = [];
  for (const trial of trials) {
    const key = `${trial} ${superseded}`;
    const points = listed.get(key) ?? (await metrics.page({ trial, superseded })).points;
    listed.set(key, points);
    found.push(...points);
  }
  return found;
}

beforeAll(async () => {
  metrics = await TestMetrics.start();
  service = await metrics.replica();
});

afterAll(() => metrics[Symbol.asyncDispose]());

describe("a series", () => {
  test("is the same from the tail, from blocks, and from both", async () => {
    const trial = await newTrial();
    const reports = Array.from({ length: 500 }, (_, n) => {
      const loss = n === 77 ? 1_000 : n % 50 === 0 ? "NaN" : Math.sin(n);
      return report(n, "training", (n * 13) % 500, {
        loss,
        epoch: Math.floor(n / 100),
        ...(n % 2 === 0 ? { odd: n } : {}),
      });
    });
    for (let start = 0; start < 500; start += 60)
      await send(trial, reports.slice(start, start + 60));
    const queries = [
      { buckets: 20 },
      { buckets: 600, names: ["loss", "odd", "absent"] },
      { buckets: 7, x: "time" },
      { buckets: 7, x: "epoch", names: ["odd"] },
      { buckets: 9, from: 100.5, to: 321 },
    ];
    const all = () => Promise.all(queries.map((query) => series({ trials: [trial], ...query })));
    const first = await all();
    const [byStep] = first as unknown as { count: number[]; max: number[]; nans: number[] }[][];
    expect(byStep?.[0]?.count).toEqual(Array.from({ length: 20 }, () => 25));
    expect(Math.max(...(byStep?.[0]?.max ?? []))).toBe(1_000);
    expect(byStep?.[0]?.nans.reduce((sum, count) => sum + count)).toBe(10);
    await metrics.compact();
    expect(await all()).toEqual(first);
    await send(trial, reports);
    expect(await all()).toEqual(first);
  });

  test("leaves out superseded points unless they are requested", async () => {
    const trial = await newTrial();
    await send(
      trial,
      Array.from({ length: 538 }, (_, n) => report(n, "training", n, { loss: n })),
    );
    await metrics.compact();
    await metrics.request(trial, 2, 400, "checkpoint");
    await send(
      trial,
      [401, 402].map((step) => report(step, "training", step, { loss: -1 })),
      2,
    );
    const one = { trials: [trial], buckets: 1 };
    expect(await series(one)).toMatchObject([{ count: [403], min: [-1], max: [400], last: [-1] }]);
    expect(await series({ ...one, superseded: true })).toMatchObject([
      { count: [540], max: [537] },
    ]);
  });

  test("combines the values of several ranks at one step by their reports' aggregation", async () => {
    const trial = await newTrial();
    const ofRank = (rank: number, n: number, aggregation: string) => ({
      ...report(n, "ranks", n, { tokens: 10 * (rank + 1) }),
      ...{ key: `${rank}-${n}`, rank, aggregation },
    });
    await send(
      trial,
      [0, 1, 2].flatMap((rank) => [ofRank(rank, 1, "sum"), ofRank(rank, 2, "mean")]),
    );
    const query = { trials: [trial], group: "ranks", names: ["tokens"] };
    const combined = [{ xMin: [1, 2], first: [60, 20], count: [1, 1] }];
    expect(await series(query)).toMatchObject(combined);
    await metrics.compact();
    expect(await series(query)).toMatchObject(combined);
  });

  test("of several trials is returned per trial, or as one series with mean and deviation", async () => {
    const both = [await newTrial(), await newTrial()];
    for (const [i, trial] of both.entries()) {
      await send(
        trial,
        [0, 10].map((n) => report(n, "training", n, { loss: n + 2 * i })),
      );
    }
    expect(await series({ trials: both, buckets: 1 })).toMatchObject(
      both.map((trial, i) => ({ trial, name: "loss", mean: [5 + 2 * i] })),
    );
    expect(await series({ trials: both, buckets: 2, combined: true })).toMatchObject([
      { trial: "", count: [2, 2], mean: [1, 11], deviation: [1, 1], min: [0, 10], max: [2, 12] },
    ]);
  });

  test("of several trials combined equals, at every zoom, that of all their points at once", async () => {
    const trials = [await newTrial(), await newTrial(), await newTrial()];
    const reportOf = (n: number) => ({
      ...report(n, "training", 3 * n, {
        loss: n % 41 === 0 ? "NaN" : n % 67 === 0 ? "Infinity" : Math.sin(n),
        epoch: Math.floor(n / 40),
        ...(n % 3 === 0 ? { rare: n } : {}),
      }),
      atMs: 1_700_000_000_000 + 10 * n,
    });
    for (const [index, trial] of trials.entries()) {
      const reports = Array.from({ length: 150 + 60 * index }, (_, n) => reportOf(n + 7 * index));
      await send(trial, reports);
    }
    await metrics.compact();
    const [first = "", second = ""] = trials;
    await metrics.request(second, 2, 300, "checkpoint");
    await send(
      second,
      Array.from({ length: 30 }, (_, n) => reportOf(101 + n)),
      2,
    );
    await send(
      first,
      Array.from({ length: 5 }, (_, n) => reportOf(400 + n)),
    );
    const listed = new Map<string, PointsOfTrial>();
    const axis = fc.constantFrom("", "time", "epoch");
    const end = fc.option(fc.double({ min: -0.1, max: 1.1, noNaN: true }), { nil: undefined });
    const names = fc.constantFrom(["loss"], ["rare"], ["rare", "loss"], ["absent", "loss"]);
    const ends = fc.tuple(end, end);
    const buckets = fc.constantFrom(1, 2, 7, 60, 600);
    await fc.assert(
      fc.asyncProperty(axis, ends, names, buckets, fc.boolean(), async (x, ...drawn) => {
        const [[a, b], asked, most, superseded] = drawn;
        const points = await rawPoints(trials, superseded, listed);
        const xOf = (point: RawPoint) =>
          x === "" ? point.stepsCompleted : x === "time" ? point.atMs : point.scalars[x];
        const all = points.map((point) => xOf(point) ?? Number.NaN);
        const [least, greatest] = [Math.min(...all), Math.max(...all)];
        const at = (part: number) => least + part * (greatest - least);
        const [from, to] = a !== undefined && b !== undefined && a > b ? [b, a] : [a, b];
        const zoom = {
          ...(from === undefined ? {} : { from: at(from) }),
          ...(to === undefined ? {} : { to: at(to) }),
        };
        const query = { names: asked, x, buckets: most, superseded, combined: true, ...zoom };
        const expected = asked.map((name) => {
          const own = points.filter(({ scalars }) => scalars[name] !== undefined);
          const xs = Float64Array.from(own, (point) => xOf(point) ?? Number.NaN);
          const values = Float64Array.from(own, ({ scalars }) => scalars[name] ?? Number.NaN);
          const range = { from: zoom.from ?? null, to: zoom.to ?? null, buckets: most };
          return { trial: "", group: "training", name, ...bucketsOf({ xs, values }, range) };
        });
        expect(await series({ trials, ...query })).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  test("of trials with many points in all is combined; a trial with too many alone is named", async () => {
    const trial = await newTrial();
    const reports = Array.from({ length: 20_000 }, (_, n) => report(n, "training", n, { loss: n }));
    for (let start = 0; start < reports.length; start += 1_000) {
      await send(trial, reports.slice(start, start + 1_000));
    }
    await metrics.compact();
    const copies = Math.ceil(metricsLimits.seriesPointsMax / reports.length);
    await metrics.stage.sql(copyOfTrial(trial, copies));
    const trials = [trial, ...Array.from({ length: copies }, (_, n) => `16.${n + 1}`)];
    expect(await series({ trials, buckets: 2, combined: true })).toMatchObject([
      {
        count: [10_000 * trials.length, 10_000 * trials.length],
        mean: [expect.closeTo(4_999.5, 6), expect.closeTo(14_999.5, 6)],
      },
    ]);
    const names = Array.from({ length: 300 }, (_, n) => `loss${n}`);
    const refused = { rejected: "too_many_points", detail: expect.stringContaining(trial) };
    for (const combined of [true, false]) {
      const asked = { trials: [trial], names, buckets: 10, combined };
      expect(await ask(asked)).toMatchObject({ kind: "rejected", rejection: refused });
    }
  });

  test.each([
    ["no trial", { trials: [] }, "invalid_request"],
    ["an unknown trial", { trials: ["x"] }, "trial_not_found"],
    ["no metric", { trials: ["1.1"], names: [] }, "invalid_request"],
    ["a range that ends before it begins", { trials: ["1.1"], from: 2, to: 1 }, "invalid_request"],
    ["more buckets than an answer has", { trials: ["1.1"], buckets: 4_001 }, "invalid_request"],
    ["a name with U+0000", { trials: ["1.1"], names: ["a\0"] }, "invalid_request"],
    ["a range of NaN", { trials: ["1.1"], from: Number.NaN }, "invalid_request"],
  ])("of %s is refused", async (_, query, rejected) => {
    expect(await ask(query)).toMatchObject({ kind: "rejected", rejection: { rejected } });
  });
});

test("the names of a trial's metrics are searched by prefix, page by page, among 12,000", async () => {
  const trial = await newTrial();
  const named = (prefix: string, count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}/${n}`, value]));
  for (let part = 0; part < 12; part += 1) {
    await send(trial, [report(part, "training", part, named(`layer${part}`, 1_000, 0.5))]);
  }
  await send(trial, [report(99, "validation", 1, { ...named("acc", 3, 1), note: "x" })]);
  const names = async (prefix: string, group = "") => {
    const found: string[] = [];
    let after = "";
    do {
      const query = { trial, group, prefix, after, limit: 400 };
      const answer = await metrics.stage.ask("metrics", "QueryMetricNames", query);
      if (answer.kind !== "ok") throw new Error(JSON.stringify(answer));
      found.push(...answer.reply.names.map(({ group: of, name, kind }) => `${of} ${name} ${kind}`));
      after = answer.reply.next;
    } while (after !== "");
    return found;
  };
  expect((await names("")).length).toBe(12_004);
  expect((await names("layer7/")).length).toBe(1_000);
  expect(await names("", "validation")).toEqual([
    ...[0, 1, 2].map((n) => `validation acc/${n} scalar`),
    "validation note json",
  ]);
  await metrics.compact();
  expect(await series({ trials: [trial], names: ["layer3/999"] })).toMatchObject([{ count: [1] }]);
});

test("the scalar metrics of trials are counted, those of the most trials first", async () => {
  const some = [await newTrial(), await newTrial(), await newTrial()];
  for (const [index, trial] of some.entries()) {
    const values = { lr: 1, ...(index > 0 ? { acc: 1 } : {}), note: "x" };
    await send(trial, [report(1, "training", 1, values)]);
  }
  await send(some[0] ?? "", [report(2, "validation", 1, { acc: 1, own: 1 })]);
  const count = async (trials: readonly string[], limit = 0) => {
    const answer = await metrics.stage.ask("metrics", "CountMetricNames", {
      trials: [...trials],
      limit,
    });
    if (answer.kind !== "ok") return answer;
    return answer.reply.counts.map(({ group, name, trials: of }) => `${group} ${name} ${of}`);
  };
  const all = ["training lr 3", "training acc 2", "validation acc 1", "validation own 1"];
  expect(await count([...some, some[0] ?? "", "99.1"])).toEqual(all);
  expect(await count(some, 2)).toEqual(all.slice(0, 2));
  expect(await count([])).toEqual([]);
  expect(await count(["x"])).toMatchObject({ rejection: { rejected: "trial_not_found" } });
});
