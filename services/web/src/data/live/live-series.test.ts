import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CombinedReads } from "./combined-reads.ts";
import { LiveSeries } from "./live-series.ts";
import type { PointsFrame } from "./protocol.ts";

type Item = PointsFrame["value"]["items"][number];

const key = ["queryMetrics", { trials: ["1.1"], names: ["loss"] }];
let queries: QueryClient;
let series: LiveSeries;
let combined: CombinedReads;

beforeEach(() => {
  vi.useFakeTimers();
  queries = new QueryClient({
    defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } },
  });
  queries.setQueryData(key, { series: [] });
  combined = new CombinedReads();
  series = new LiveSeries(queries, "1", combined);
});

afterEach(() => {
  vi.useRealTimers();
});

const point = (position: string): Item => ({ position }) as Item;
const superseded = (position: string): Item =>
  ({ position, superseded: { run: 1, afterStep: 4 } }) as Item;
const lists = ["xMin", "xMax", "count", "min", "max", "mean", "deviation", "first", "last"];
const empty = {
  ...{ trial: "1.1", group: "training", name: "loss", nans: [], infinities: [] },
  ...Object.fromEntries(lists.map((name) => [name, []])),
};
const reported = (stepsCompleted: number) => ({
  ...{ trial: "1.1", run: 1, group: "training", stepsCompleted, reportedAtMs: 1_000 },
  ...{ metrics: { loss: 0.4 }, superseded: false, others: {}, key: "0" },
});
/** Shows the series in a chart. A read of it does not end. */
const shown = (queryKey: readonly unknown[] = key): (() => void) =>
  new QueryObserver(queries, { queryKey, queryFn: () => new Promise(() => {}) }).subscribe(
    () => {},
  );
const isStale = (): boolean => queries.getQueryState(key)?.isInvalidated === true;

/** Waits until the gathered points are applied. */
const applied = (): unknown => vi.runAllTimersAsync();

test("series are read again at the first update, since points may have arrived before the stream opened", async () => {
  series.points([point("1")]);
  await applied();
  expect(isStale()).toBe(true);
});

test("series that have every point up to the first update are not read again", async () => {
  queries.setQueryData(key, { series: [empty], streamPosition: "6" });
  const hide = shown();
  series.points([{ position: "7", point: reported(3) } as Item]);
  await applied();
  expect(isStale()).toBe(false);
  expect(queries.getQueryData(key)).toMatchObject({ series: [{ xMax: [3] }] });
  hide();
});

test("series that lack a point before the first update are read again", async () => {
  queries.setQueryData(key, { series: [empty], streamPosition: "5" });
  const hide = shown();
  series.points([{ position: "7", point: reported(3) } as Item]);
  await applied();
  expect(isStale()).toBe(true);
  hide();
});

test("series of several experiments are followed from the position of each", async () => {
  const both = ["queryMetrics", { trials: ["1.1", "2.1"], names: ["loss"] }];
  const streamPositions = { "1": "6", "2": "1" };
  queries.setQueryData(both, { series: [empty], streamPosition: "", streamPositions });
  const hide = shown(both);
  series.points([{ position: "7", point: reported(3) } as Item]);
  await applied();
  expect(queries.getQueryState(both)?.isInvalidated).toBe(false);
  expect(queries.getQueryData(both)).toMatchObject({ series: [{ xMax: [3] }] });
  new LiveSeries(queries, "2", combined).points([point("9")]);
  await applied();
  expect(queries.getQueryState(both)?.isInvalidated).toBe(true);
  hide();
});

test("series of groups are read again for new points, once for all points of five seconds", async () => {
  const grouped = ["queryMetrics", { trials: ["1.1"], names: ["loss"], combined: true }];
  const read = vi.fn<() => Promise<object>>(() =>
    Promise.resolve({ series: [], streamPosition: "6" }),
  );
  const observer = new QueryObserver(queries, { queryKey: grouped, queryFn: read });
  const stop = observer.subscribe(() => {});
  await vi.advanceTimersByTimeAsync(0);
  for (const position of [7, 8, 9]) {
    series.points([{ position: String(position), point: reported(position) } as Item]);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(read).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(read).toHaveBeenCalledTimes(2);
  stop();
});

test("series of a group of many running experiments are read again five seconds after the last read ended", async () => {
  const experiments = Array.from({ length: 20 }, (_, at) => String(at + 1));
  const trials = experiments.map((id) => `${id}.1`);
  const times: { readonly began: number; ended?: number }[] = [];
  const streamPositions = Object.fromEntries(experiments.map((id) => [id, "6"]));
  const observer = new QueryObserver(queries, {
    queryKey: ["queryMetrics", { trials, names: ["loss"], combined: true }],
    queryFn: async ({ signal }) => {
      const time: (typeof times)[number] = { began: Date.now() };
      times.push(time);
      await new Promise((resolve) => setTimeout(resolve, 7_000));
      if (!signal.aborted) time.ended = Date.now();
      return { series: [], streamPosition: "", streamPositions };
    },
  });
  const stop = observer.subscribe(() => {});
  const followed = experiments.map((id) => new LiveSeries(queries, id, combined));
  for (let position = 7; position < 100; position += 1) {
    for (const one of followed) {
      one.points([{ position: String(position), point: reported(position) } as Item]);
      await vi.advanceTimersByTimeAsync(20);
    }
  }
  expect(times.filter(({ ended }) => ended !== undefined).length).toBeGreaterThanOrEqual(3);
  for (const [at, { began }] of times.slice(1).entries()) {
    expect(began - (times[at]?.ended ?? Number.NaN)).toBeGreaterThanOrEqual(5_000);
    expect(began - (times[at]?.ended ?? Number.NaN)).toBeLessThan(5_500);
  }
  stop();
});

test("points leave series alone that no chart shows: these are read again when a chart shows them", async () => {
  const answer = { series: [empty], streamPosition: "6" };
  const grouped = ["queryMetrics", { trials: ["1.1"], names: ["loss"], combined: true }];
  for (const one of [key, grouped]) queries.setQueryData(one, answer);
  const before = [key, grouped].map((one) => queries.getQueryData(one));
  series.points([{ position: "7", point: reported(3) } as Item]);
  await vi.advanceTimersByTimeAsync(1_000);
  for (const [at, one] of [key, grouped].entries()) {
    expect(queries.getQueryData(one)).toBe(before[at]);
    expect(queries.getQueryState(one)?.isInvalidated).toBe(true);
  }
  expect(vi.getTimerCount()).toBe(0);
});

test("series are read again when a run supersedes points, once for a repeated position", async () => {
  series.points([point("1")]);
  await applied();
  queries.setQueryData(key, { series: [] });
  series.points([superseded("2")]);
  await applied();
  expect(isStale()).toBe(true);
  queries.setQueryData(key, { series: [] });
  series.points([point("1"), superseded("2")]);
  await applied();
  expect(isStale()).toBe(false);
});

test("a point that arrives while the series are read is added to the older answer", async () => {
  series.points([point("1")]);
  await applied();
  const older = { series: [{ ...empty, xMin: [1], xMax: [1], mean: [0.5] }], position: "1" };
  let answer = (): void => {};
  const observer = new QueryObserver(queries, {
    queryKey: key,
    queryFn: () =>
      new Promise<typeof older>((resolve) => {
        answer = () => resolve(older);
      }),
  });
  const hide = observer.subscribe(() => {});
  series.points([{ position: "2", point: reported(2) } as Item]);
  await vi.advanceTimersByTimeAsync(1_000);
  answer();
  await applied();
  expect(queries.getQueryData(key)).toMatchObject({ series: [{ xMax: [1, 2] }] });
  hide();
  expect(vi.getTimerCount()).toBe(0);
});

test("series of other experiments do not change", async () => {
  new LiveSeries(queries, "11", combined).reset();
  await applied();
  expect(isStale()).toBe(false);
});

test("series are read a last time at the end", () => {
  series.end();
  expect(isStale()).toBe(true);
});
