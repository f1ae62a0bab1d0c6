import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LiveSeries } from "./live-series.ts";
import type { PointsFrame } from "./protocol.ts";

type Item = PointsFrame["value"]["items"][number];

const key = ["queryMetrics", { trials: ["1.1"], names: ["loss"] }];
let queries: QueryClient;
let series: LiveSeries;

beforeEach(() => {
  vi.useFakeTimers();
  queries = new QueryClient();
  queries.setQueryData(key, { series: [] });
  series = new LiveSeries(queries, "1");
});

afterEach(() => {
  vi.useRealTimers();
});

const point = (position: string): Item => ({ position }) as Item;
const superseded = (position: string): Item =>
  ({ position, superseded: { run: 1, afterStep: 4 } }) as Item;
const isStale = (): boolean => queries.getQueryState(key)?.isInvalidated === true;

/** What was gathered is applied. */
const applied = (): unknown => vi.runAllTimersAsync();

test("series are read again at the first update, for points may have come before the stream opened", async () => {
  series.points([point("1")]);
  await applied();
  expect(isStale()).toBe(true);
});

test("series are read again when a run supersedes points, once for a position that comes twice", async () => {
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

test("series of other experiments stay as they are", async () => {
  new LiveSeries(queries, "11").reset();
  await applied();
  expect(isStale()).toBe(false);
});

test("series are read a last time at the end", () => {
  series.end();
  expect(isStale()).toBe(true);
});
