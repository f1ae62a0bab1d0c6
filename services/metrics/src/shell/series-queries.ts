import type { Plain } from "@trainyard/contracts";
import type { QuerySeries, Series } from "@trainyard/contracts/commands";
import { isRejection, isTrialId, parseTrialId, type Rejection, reject } from "@trainyard/kernel";
import { type CommandTable, tableFault } from "@trainyard/runtime";
import type { Pool } from "pg";
import { lastStepThatCounts } from "../core/run-history.ts";
import { bucketsOf } from "../core/series/buckets.ts";
import { joinPoints, type Points, pointsOf } from "../core/series/points.ts";
import { metricsLimits } from "../limits.ts";
import { runHistories } from "../streams.ts";
import type { QueryDeps } from "./queries.ts";
import { readChunks } from "./series-reader.ts";
import { inSnapshot } from "./stored-parts.ts";
import { streamPosition as readStreamPosition } from "./stream-table.ts";

export type SeriesDeps = Pick<QueryDeps, "pool" | "cache" | "follower">;

export function seriesQueryCommands(deps: SeriesDeps) {
  return {
    QuerySeries: async (query) => {
      const { position } = deps.follower;
      const found = await answer(deps, query);
      return isRejection(found) ? found : { ...found, position };
    },
    QueryMetricNames: async ({ trial, group, prefix, after, limit }) => {
      if (!isTrialId(trial)) return reject("trial_not_found", `there is no trial ${trial}`);
      if (prefix.includes("\0") || group.includes("\0")) return { names: [], next: "" };
      const cursor = after === "" ? null : decodeCursor(after);
      if (after !== "" && cursor === null) {
        return reject("invalid_request", `invalid page token ${after} for metric names`);
      }
      const most = Math.min(limit || metricsLimits.namesPerPageMax, metricsLimits.namesPerPageMax);
      const found = await namesOf(deps.pool, { trial, group, prefix, cursor, limit: most + 1 });
      const names = found.slice(0, most);
      const last = names.at(-1);
      const more = found.length > most && last !== undefined;
      return { names, next: more ? encodeCursor([last.group, last.name, last.kind]) : "" };
    },
    CountMetricNames: async ({ trials, limit }) => {
      const unknown = trials.find((trial) => !isTrialId(trial));
      if (unknown !== undefined) return reject("trial_not_found", `there is no trial ${unknown}`);
      const most = Math.min(limit || metricsLimits.namesPerPageMax, metricsLimits.namesPerPageMax);
      return { counts: await countsOf(deps.pool, trials, most) };
    },
  } satisfies Partial<CommandTable<"metrics">>;
}

type Answer = {
  readonly series: Plain<Series>[];
  readonly streamPositions: Record<string, number>;
};

async function answer(deps: SeriesDeps, query: Plain<QuerySeries>): Promise<Answer | Rejection> {
  const wrong = problemOf(query);
  if (wrong !== null) return wrong;
  const { trials, names, combined } = query;
  const group = query.group || "training";
  const [from, to] = [query.from ?? null, query.to ?? null];
  const series: Plain<Series>[] = [];
  const streamPositions: Record<string, number> = {};
  let points = 0;
  const all = new Map(names.map((name): [string, Points[]] => [name, []]));
  const bucketed = (trial: string, name: string, points: Points): Plain<Series> => ({
    ...{ trial, group, name },
    ...bucketsOf(points, { from, to, buckets: query.buckets || metricsLimits.bucketsDefault }),
  });
  for (const trial of trials) {
    const { state: history } = await deps.cache.load(runHistories, trial);
    const lastStep = (run: number): number =>
      query.superseded ? Number.POSITIVE_INFINITY : lastStepThatCounts(history, run);
    const request = { trial, group, names, x: query.x || "step", from, to, lastStep };
    const chunks = await inSnapshot(deps.pool, async (client) => {
      // The position is from the snapshot of the experiment's first trial; the later snapshots contain all points up
      // to it.
      const experiment = parseTrialId(trial)?.experiment ?? "";
      streamPositions[experiment] ??= await readStreamPosition(client, experiment);
      return readChunks(client, request);
    });
    if (chunks === null) return reject("too_many_points", tooMany(trial));
    for (const name of names) {
      const own = pointsOf(chunks.get(name) ?? [], lastStep);
      if (combined) all.get(name)?.push(own);
      else series.push(bucketed(trial, name, own));
      points += combined ? own.xs.length : 0;
    }
    if (points > metricsLimits.seriesPointsMax) return reject("too_many_points", tooMany(trial));
  }
  const answered = combined
    ? [...all].map(([name, parts]) => bucketed("", name, joinPoints(parts)))
    : series;
  return { series: answered, streamPositions };
}

const tooMany = (trial: string): string =>
  `up to trial ${trial} there are more points than one answer is made of: ask for a range, or for fewer metrics or trials`;

function problemOf(query: Plain<QuerySeries>): Rejection | null {
  const { trials, names, combined, from, to } = query;
  const { seriesTrialsMax, seriesBucketsMax, bucketsDefault } = metricsLimits;
  const unknown = trials.find((trial) => !isTrialId(trial));
  if (unknown !== undefined) return reject("trial_not_found", `there is no trial ${unknown}`);
  const refuse = (detail: string): Rejection => reject("invalid_request", detail);
  if (trials.length === 0) return refuse("name at least one trial");
  if (trials.length > seriesTrialsMax) return refuse(`name at most ${seriesTrialsMax} trials`);
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

type NamesQuery = {
  readonly trial: string;
  readonly group: string;
  readonly prefix: string;
  readonly cursor: NameCursor | null;
  readonly limit: number;
};

type NameCursor = readonly [group: string, name: string, kind: string];
type NameRow = { readonly group: string; readonly name: string; readonly kind: string };

async function namesOf(
  pool: Pool,
  { trial, group, prefix, cursor, limit }: NamesQuery,
): Promise<readonly NameRow[]> {
  const [afterGroup, afterName, afterKind] = cursor ?? [null, null, null];
  try {
    const { rows } = await pool.query<NameRow>({
      name: "metric-names",
      text: `select group_name as "group", name, kind from metrics.names
             where trial = $1 and ($2 = '' or group_name = $2) and starts_with(name, $3)
               and ($4::text is null or (group_name, name, kind) > ($4, $5::text, $6::text))
             order by group_name, name, kind limit $7`,
      values: [trial, group, prefix, afterGroup, afterName, afterKind, limit],
    });
    return rows;
  } catch (cause) {
    throw tableFault(cause, "points_unavailable", "the table of metric names");
  }
}

type CountRow = { readonly group: string; readonly name: string; readonly trials: number };

async function countsOf(pool: Pool, trials: readonly string[], limit: number): Promise<CountRow[]> {
  try {
    const { rows } = await pool.query<CountRow>({
      name: "metric-name-counts",
      text: `select group_name as "group", name, count(*)::integer as trials from metrics.names
             where trial = any($1) and kind = 'scalar'
             group by group_name, name order by count(*) desc, group_name, name limit $2`,
      values: [[...new Set(trials)], limit],
    });
    return rows;
  } catch (cause) {
    throw tableFault(cause, "points_unavailable", "the table of metric names");
  }
}

const encodeCursor = (cursor: NameCursor): string =>
  Buffer.from(JSON.stringify(cursor)).toString("base64url");

/** Returns null for a text that is not a cursor of this service. */
function decodeCursor(text: string): NameCursor | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    const isCursor =
      Array.isArray(value) &&
      value.length === 3 &&
      value.every((part) => typeof part === "string" && !part.includes("\0"));
    return isCursor ? (value as unknown as NameCursor) : null;
  } catch {
    // The text is not base64url of JSON.
    return null;
  }
}
