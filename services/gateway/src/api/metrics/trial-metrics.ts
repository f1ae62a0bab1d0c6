import type { Plain, RequestOf } from "@trainyard/contracts";
import type { MetricPoint } from "@trainyard/contracts/api";
import type { Point, Series } from "@trainyard/contracts/commands";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import { apiLimits } from "../limits.ts";
import { pageSize } from "../paging.ts";

const seriesBucketsDefault = 1_000;
/** The parallel queries to the metrics service for one request; the limit leaves room for other requests. */
const seriesAtOnce = 4;

type SeriesAnswer = {
  readonly series: readonly Plain<Series>[];
  readonly position: number;
  readonly streamPositions: Readonly<Record<string, number>>;
};

/**
 * Queries series in parts, by trial and by some metrics, because an answer must fit into one message. Several queries
 * run at once.
 */
async function askForSeries(
  backend: Backend,
  request: RequestOf<"queryMetrics">,
  context: RequestContext,
): Promise<SeriesAnswer> {
  const { seriesTrialsMax, seriesNamesMax, seriesBucketsMax } = apiLimits;
  const { trials, names, combined } = request;
  const buckets = request.buckets || seriesBucketsDefault;
  const most = (what: string, count: number, max: number): void => {
    if (count <= max) return;
    throw new Problem(400, "invalid_request", `${what}: ${count}; a query takes ${max}`);
  };
  most("trials", trials.length, seriesTrialsMax);
  most("names", names.length, seriesNamesMax);
  most("buckets", buckets, seriesBucketsMax);
  for (const trial of trials) await backend.get("trial", trial);
  const namesAtOnce = Math.max(1, Math.floor(seriesBucketsMax / buckets));
  const questions = (
    combined || trials.length === 0 ? [trials] : trials.map((trial) => [trial])
  ).flatMap((some) => inPieces(names, namesAtOnce).map((own) => ({ trials: some, names: own })));
  const answers: SeriesAnswer[] = [];
  for (const some of inPieces(questions, seriesAtOnce)) {
    const asked = some.map((question) => {
      const query = { ...request, ...question, buckets };
      return backend.command("metrics", "QuerySeries", query, context);
    });
    answers.push(...(await Promise.all(asked)));
  }
  return {
    series: answers.flatMap(({ series }) => series),
    position: Math.min(...answers.map(({ position }) => position)),
    streamPositions: leastPositions(answers.map(({ streamPositions: own }) => own)),
  };
}

/** Returns the least position of each experiment: every answer has all points up to it. */
function leastPositions(
  answers: readonly Readonly<Record<string, number>>[],
): Readonly<Record<string, number>> {
  const least: Record<string, number> = {};
  for (const [experiment, position] of answers.flatMap(Object.entries<number>)) {
    least[experiment] = Math.min(position, least[experiment] ?? position);
  }
  return least;
}

/** Splits items into pieces; the result has at least one piece, perhaps an empty one. */
function inPieces<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  const pieces: (readonly Item[])[] = [];
  for (let start = 0; start === 0 || start < items.length; start += size) {
    pieces.push(items.slice(start, start + size));
  }
  return pieces;
}

export function shownPoint(trial: string, point: Plain<Point>): Plain<MetricPoint> {
  return {
    trial,
    run: point.run,
    group: point.group,
    stepsCompleted: point.stepsCompleted,
    reportedAtMs: point.atMs,
    metrics: point.scalars,
    superseded: point.superseded,
    others: point.others ?? {},
    key: point.key,
  };
}

export function metricHandlers(backend: Backend) {
  return {
    listTrialMetrics: async (request, context) => {
      const { trial, group, superseded } = request;
      await backend.get("trial", trial);
      const page = await backend.command(
        "metrics",
        "QueryPoints",
        { trial, group, superseded, after: request.pageToken, limit: pageSize(request.pageSize) },
        context,
      );
      const items = page.points.map((point) => shownPoint(trial, point));
      return {
        items,
        nextPageToken: page.next,
        position: String(page.position),
        streamPosition: String(page.streamPosition),
      };
    },
    listTrialMetricNames: async ({ trial, group, prefix, ...request }, context) => {
      await backend.get("trial", trial);
      const { names, next } = await backend.command(
        "metrics",
        "QueryMetricNames",
        { trial, group, prefix, after: request.pageToken, limit: pageSize(request.pageSize) },
        context,
      );
      return { items: names, nextPageToken: next };
    },
    queryMetrics: async (request, context) => {
      const { series, position, ...answer } = await askForSeries(backend, request, context);
      const positions = Object.entries(answer.streamPositions);
      const [[, only] = ["", ""], ...others] = positions;
      return {
        series: [...series],
        position: String(position),
        streamPosition: others.length > 0 ? "" : String(only),
        streamPositions: Object.fromEntries(positions.map(([id, at]) => [id, String(at)])),
      };
    },
  } satisfies Partial<UnaryHandlers>;
}
