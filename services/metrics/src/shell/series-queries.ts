/** QuerySeries: metrics of trials for charts. */
import type { Plain } from "@trainyard/contracts";
import type { QuerySeries, Series } from "@trainyard/contracts/commands";
import {
  isRejection,
  isTrialId,
  mapConcurrently,
  parseTrialId,
  type Rejection,
  reject,
} from "@trainyard/kernel";
import type { CommandTable } from "@trainyard/runtime";
import type { Pool, PoolClient } from "pg";
import { lastStepThatCounts } from "../core/run-history.ts";
import { type Bounds, bucketsOfStretches, JoinedBuckets } from "../core/series/buckets.ts";
import { type Points, stretchesOf } from "../core/series/points.ts";
import { metricsLimits } from "../limits.ts";
import { runHistories } from "../streams.ts";
import type { QueryDeps } from "./queries.ts";
import { readAhead } from "./read-ahead.ts";
import { readBounds, widen } from "./series-bounds.ts";
import { pointsOf, readChunks, type SeriesRequest, wantedParts } from "./series-reader.ts";
import { inSnapshot, type Part } from "./stored-parts.ts";
import { streamPosition as readStreamPosition } from "./stream-table.ts";

export type SeriesDeps = Pick<QueryDeps, "pool" | "cache" | "follower">;

export function seriesQueryCommands(deps: SeriesDeps) {
  return {
    QuerySeries: async (query, { throwIfLate }) => {
      const { position } = deps.follower;
      const found = await answer(deps, query, throwIfLate);
      return isRejection(found) ? found : { ...found, position };
    },
  } satisfies Partial<CommandTable<"metrics">>;
}

type Answer = {
  readonly series: Plain<Series>[];
  readonly streamPositions: Readonly<Record<string, number>>;
};

async function answer(
  deps: SeriesDeps,
  query: Plain<QuerySeries>,
  throwIfLate: () => void,
): Promise<Answer | Rejection> {
  const wrong = problemOf(query);
  if (wrong !== null) return wrong;
  const requests = await mapConcurrently(query.trials, metricsLimits.historiesAtOnce, (trial) =>
    requestOf(deps, query, trial),
  );
  const buckets = query.buckets || metricsLimits.bucketsDefault;
  const asked = { requests, buckets, throwIfLate };
  return query.combined ? combinedSeries(deps.pool, asked) : singleSeries(deps.pool, asked);
}

type Asked = {
  readonly requests: readonly SeriesRequest[];
  readonly buckets: number;
  /** Ends a query whose caller has given up: nobody reads its answer, and the caller may have asked again. */
  readonly throwIfLate: () => void;
};

async function requestOf(
  { cache }: SeriesDeps,
  query: Plain<QuerySeries>,
  trial: string,
): Promise<SeriesRequest> {
  const { state: history } = await cache.load(runHistories, trial);
  return {
    trial,
    group: query.group || "training",
    names: query.names,
    x: query.x || "step",
    from: query.from ?? null,
    to: query.to ?? null,
    lastStep: (run) =>
      query.superseded ? Number.POSITIVE_INFINITY : lastStepThatCounts(history, run),
  };
}

/** Returns the series of each trial, all from one snapshot. */
function singleSeries(
  pool: Pool,
  { requests, buckets, throwIfLate }: Asked,
): Promise<Answer | Rejection> {
  return inSnapshot(pool, async (client) => {
    const series: Plain<Series>[] = [];
    for (const request of requests) {
      throwIfLate();
      const { trial, group, names, from, to } = request;
      const points = await readPoints(client, request);
      if (points === null) return tooMany(trial);
      for (const name of names) {
        const own = bucketsOfStretches(points.get(name) ?? [], { from, to, buckets });
        series.push({ trial, group, name, ...own });
      }
    }
    return { series, streamPositions: await positionsOf(client, requests) };
  });
}

/** Returns the position of each experiment's stream in the client's snapshot. */
async function positionsOf(
  client: PoolClient,
  requests: readonly SeriesRequest[],
): Promise<Readonly<Record<string, number>>> {
  const positions: Record<string, number> = {};
  for (const { trial } of requests) {
    const experiment = parseTrialId(trial)?.experiment ?? "";
    positions[experiment] ??= await readStreamPosition(client, experiment);
  }
  return positions;
}

/**
 * Returns one series for each metric, of the points of all trials. Each trial's points are added to buckets at common
 * bounds and forgotten, so that the memory does not grow with the number of trials.
 */
async function combinedSeries(
  pool: Pool,
  { requests, buckets, throwIfLate }: Asked,
): Promise<Answer | Rejection> {
  const opened = await inSnapshot(pool, (client) => openCombined(client, requests, throwIfLate));
  if ("rejected" in opened) return opened;
  const { bounds, streamPositions } = opened;
  const [{ group, names }] = requests as readonly [SeriesRequest]; // Checked: at least one trial.
  const joined = new Map(
    names.map((name) => {
      const own = bounds.get(name) ?? noBounds;
      return [name, new JoinedBuckets({ ...own, buckets })] as const;
    }),
  );
  const read = (request: SeriesRequest) =>
    inSnapshot(pool, (client) => readPoints(client, request));
  for await (const [request, points] of readAhead(requests, metricsLimits.trialsAhead, read)) {
    throwIfLate();
    if (points === null) return tooMany(request.trial);
    for (const [name, own] of joined) {
      for (const stretch of points.get(name) ?? []) own.add(stretch);
    }
  }
  const series = [...joined].map(([name, own]) => ({ trial: "", group, name, ...own.buckets() }));
  return { series, streamPositions };
}

const noBounds = { from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY };

type Opened = {
  readonly bounds: ReadonlyMap<string, Bounds>;
  readonly streamPositions: Readonly<Record<string, number>>;
};

/**
 * Reads what must be known before the points are: that they are not too many, the positions of the streams, and the
 * bounds of each metric.
 */
async function openCombined(
  client: PoolClient,
  requests: readonly SeriesRequest[],
  throwIfLate: () => void,
): Promise<Opened | Rejection> {
  const bounds = new Map<string, Bounds>();
  const partsOf = new Map<SeriesRequest, readonly Part[]>();
  let points = 0;
  for (const request of requests) {
    throwIfLate();
    const parts = await wantedParts(client, request);
    if (parts === null) return tooMany(request.trial);
    points += pointsOf(parts, request);
    if (points > metricsLimits.groupPointsMax) return groupTooLarge(requests.length);
    partsOf.set(request, parts);
  }
  for (const [request, parts] of partsOf) {
    throwIfLate();
    const { names, from, to } = request;
    if (from !== null && to !== null) {
      for (const name of names) bounds.set(name, { from, to });
      continue;
    }
    for (const [name, own] of await readBounds(client, request, parts)) {
      widen(bounds, name, { from: from ?? own.from, to: to ?? own.to });
    }
  }
  return { bounds, streamPositions: await positionsOf(client, requests) };
}

async function readPoints(
  client: PoolClient,
  request: SeriesRequest,
): Promise<ReadonlyMap<string, readonly Points[]> | null> {
  const chunks = await readChunks(client, request);
  if (chunks === null) return null;
  return new Map([...chunks].map(([name, own]) => [name, stretchesOf(own, request.lastStep)]));
}

const tooMany = (trial: string): Rejection =>
  reject(
    "too_many_points",
    `trial ${trial} has more points than one series is made of: ask for a range, or for fewer metrics`,
  );

const groupTooLarge = (trials: number): Rejection => {
  const most = metricsLimits.groupPointsMax.toLocaleString("en");
  const detail = `${trials} trials have more than ${most} points in all: ask for a range of x, for fewer trials, or for fewer metrics`;
  return reject("too_many_points", detail);
};

function problemOf(query: Plain<QuerySeries>): Rejection | null {
  const { trials, names, combined, from, to } = query;
  const { seriesTrialsMax, seriesBucketsMax, bucketsDefault } = metricsLimits;
  const unknown = trials.find((trial) => !isTrialId(trial));
  if (unknown !== undefined) return reject("trial_not_found", `there is no trial ${unknown}`);
  const refuse = (detail: string): Rejection => reject("invalid_request", detail);
  if (trials.length === 0) return refuse("name at least one trial");
  if (trials.length > seriesTrialsMax) return refuse(`name at most ${seriesTrialsMax} trials`);
  if (new Set(trials).size < trials.length) return refuse("name a trial once");
  if (names.length === 0) return refuse("name at least one metric");
  if (new Set(names).size < names.length) return refuse("name a metric once");
  if ([...names, query.x, query.group].some((name) => name.includes("\0"))) {
    return refuse("no metric and no group has U+0000 in its name");
  }
  const each = query.buckets || bucketsDefault;
  const series = names.length * (combined ? 1 : trials.length);
  if (each * series > seriesBucketsMax) {
    return refuse(`${series} series of ${each} buckets are more than ${seriesBucketsMax} in all`);
  }
  if (![from, to].every((bound) => bound === undefined || Number.isFinite(bound))) {
    return refuse("from and to are finite numbers");
  }
  return from !== undefined && to !== undefined && from > to ? refuse("from is after to") : null;
}
