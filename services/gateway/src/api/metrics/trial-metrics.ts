import type { Plain, RequestOf } from "@trainyard/contracts";
import type { MetricPoint } from "@trainyard/contracts/api";
import type { Point, Series } from "@trainyard/contracts/commands";
import { isTrialId, mapConcurrently, parseTrialId } from "@trainyard/kernel";
import { type Backend, isDeleted } from "../../backend.ts";
import type { GatewayConfig } from "../../config.ts";
import { FairQueue } from "../../http/fair-queue.ts";
import { notFound, Problem } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import type { TrialDocument } from "../../read-model/core/views/documents.ts";
import { inTurn } from "../in-turn.ts";
import { apiLimits } from "../limits.ts";
import { pageSize } from "../paging.ts";
import { onlyExperiment, SeriesAnswers, type SeriesAnswersDeps } from "./series-answers.ts";
import { questionsOf } from "./series-questions.ts";

const seriesBucketsDefault = 1_000;
type SeriesAnswer = {
  readonly series: readonly Plain<Series>[];
  readonly position: number;
  readonly streamPositions: Readonly<Record<string, number>>;
};

/** The queues of queries for series: a query that waits here has its whole deadline when its turn comes. */
type SeriesQueues = { readonly single: FairQueue; readonly combined: FairQueue };

type SeriesParts = {
  readonly backend: Backend;
  readonly queues: SeriesQueues;
  /** The answers that gateways share; null if they share none. */
  readonly answers: SeriesAnswers | null;
};

/** Queries series in parts. */
async function askForSeries(
  { backend, queues, answers: kept }: SeriesParts,
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
  if (new Set(trials).size < trials.length) {
    throw new Problem(400, "invalid_request", "name a trial once");
  }
  const questions = questionsOf(await trialsOf(backend, trials), { names, combined, buckets });
  const queue = combined ? queues.combined : queues.single;
  const answers = await mapConcurrently(questions, apiLimits.seriesQueries.ofOneMax, (question) =>
    inTurn(queue, context, () => {
      const query = { ...request, ...question, buckets };
      const experiment = onlyExperiment(question.trials);
      return kept === null || experiment === null
        ? backend.command("metrics", "QuerySeries", query, context)
        : kept.of(experiment, query);
    }),
  );
  return {
    series: answers.flatMap(({ series }) => series),
    position: Math.min(...answers.map(({ position }) => position)),
    streamPositions: leastPositions(answers.map(({ streamPositions: own }) => own)),
  };
}

/**
 * Returns the trials in their order, with one query. Throws a Problem of 404 for the first one that does not exist or
 * is hidden.
 */
async function trialsOf(
  { parts }: Backend,
  ids: readonly string[],
): Promise<readonly TrialDocument[]> {
  const experiments = new Set(ids.flatMap((id) => parseTrialId(id)?.experiment ?? []));
  const rows = await parts.documents.fetch(parts.pool, [
    ...ids.filter(isTrialId).map((id) => ({ kind: "trial", id }) as const),
    ...[...experiments].map((id) => ({ kind: "experiment", id }) as const),
  ]);
  const found = new Map<string, TrialDocument>();
  const hidden = new Set<string>();
  for (const row of rows) {
    if (row.kind === "trial") found.set(row.id, row.doc);
    if (row.kind === "experiment" && isDeleted(row.doc)) hidden.add(row.id);
  }
  return ids.map((id) => {
    const doc = found.get(id);
    if (doc === undefined || hidden.has(doc.experiment)) throw notFound("trial", id);
    return doc;
  });
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

export type AnswersDoor = Omit<SeriesAnswersDeps, "backend">;

export function metricHandlers(
  backend: Backend,
  door: AnswersDoor,
  { redisUrl }: Pick<GatewayConfig, "redisUrl">,
) {
  const answers = redisUrl === null ? null : new SeriesAnswers({ backend, ...door });
  const queues: SeriesQueues = {
    single: new FairQueue(apiLimits.seriesQueries),
    combined: new FairQueue(apiLimits.combinedQueries),
  };
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
      const { series, position, ...answer } = await askForSeries(
        { backend, queues, answers },
        request,
        context,
      );
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
