/** Points and lines as topics of Watch: how topics are checked, read and encoded. */
import { allMetricSubjects } from "@trainyard/bus";
import type { Plain } from "@trainyard/contracts";
import type { StreamedMetric, WatchTopic } from "@trainyard/contracts/api";
import { parseTrialId } from "@trainyard/kernel";
import { asGateway, type Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import {
  isPosition,
  type LineFilter,
  type Place,
  type SeriesTopic,
} from "../../live/core/series.ts";
import type { SeriesReader } from "../../live/series-hub.ts";
import { digestOf } from "../../live/watch-cursor.ts";
import { apiLimits } from "../limits.ts";
import { linesAfter, tailOwnLines } from "../logs/trial-logs.ts";
import { shownItem, streamedPoints } from "../metric-stream/metric-stream.ts";
import { type FrameContent, frameText } from "./watch-frames.ts";

/** The points or lines in one frame, which is the size of one query. */
const seriesPage = 500;

export const seriesKinds: readonly string[] = ["points", "lines"];

/** Parses a topic. Throws a Problem if it is invalid, or names something that does not exist. */
export async function seriesTopic(
  backend: Backend,
  asked: Plain<WatchTopic>,
  at: string,
): Promise<SeriesTopic> {
  const { experiment, id: trial, group, names, position } = asked;
  const kind = asked.kind === "points" ? "points" : "lines";
  const refuse = (detail: string): never => {
    throw new Problem(400, "invalid_request", `${at} ${detail}`);
  };
  if (experiment === "") refuse(`needs an experiment: it is a topic of ${kind}`);
  if (asked.filter !== "") refuse(`has a filter, which ${kind} do not have`);
  if (asked.workspace !== "") refuse("has a workspace, which is of projects");
  if (kind === "lines" && (group !== "" || names.length > 0))
    refuse("has group or names, which are of points");
  const { seriesNamesMax } = apiLimits;
  if (names.length > seriesNamesMax)
    refuse(`has ${names.length} names; a topic takes ${seriesNamesMax}`);
  if (position !== "" && !isPosition(position)) refuse(`.position is no position of ${kind}`);
  await backend.get("experiment", experiment);
  if (trial !== "" && parseTrialId(trial)?.experiment !== experiment) {
    refuse(
      `has the id ${JSON.stringify(trial.slice(0, 60))}, which is no trial of experiment ${experiment}`,
    );
  }
  if (trial !== "") await backend.get("trial", trial);
  const filter = await lineFilterOf(backend, asked, at);
  const sorted = [...new Set(names)].toSorted();
  const parts = [kind, experiment, trial, group, ...sorted];
  const key = JSON.stringify(filter === undefined ? parts : [...parts, filter]);
  const own = filter === undefined ? {} : { filter };
  return { key, name: digestOf(key), kind, experiment, trial, group, names: sorted, ...own };
}

/**
 * Checks a line filter by a query to the logs service, for lines before the first one. If the service is unavailable,
 * the filter is accepted unchecked.
 */
async function lineFilterOf(
  backend: Backend,
  { kind, experiment, id, lineFilter: filter }: Plain<WatchTopic>,
  at: string,
): Promise<LineFilter | undefined> {
  if (filter === undefined) return undefined;
  if (kind !== "lines") {
    throw new Problem(400, "invalid_request", `${at} has line_filter, which is of lines`);
  }
  try {
    const asked = { task: id || experiment, before: "1", limit: 1, filter };
    await linesAfter(backend, asked, asGateway());
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status >= 500) return filter;
    throw new Problem(error.status, error.code, `${at}.line_filter.${error.message}`);
  }
  return filter;
}

export function seriesReader(backend: Backend): SeriesReader {
  return {
    look: (topic, after) =>
      topic.kind === "points"
        ? lookAtPoints(backend, topic, after)
        : lookAtLines(backend, topic, after),
    tail: ({ kind, experiment, trial }, wake) =>
      kind === "points"
        ? backend.parts.bus.tailLive(allMetricSubjects(experiment, trial || undefined), wake)
        : tailOwnLines(backend.parts.bus, trial || experiment, wake),
    reset: ({ key }, reason) => frameText({ case: "reset", value: { topic: key, reason } }),
  };
}

async function lookAtPoints(backend: Backend, topic: SeriesTopic, after: Place | null) {
  const { key, names } = topic;
  const page = await streamedPoints(backend, topic, after, seriesPage);
  const items = page.items.flatMap((item) => named(shownItem(item), names));
  const next = { position: String(page.next), epoch: "" };
  return { ...framed({ case: "points", value: { topic: key, items } }, next), more: page.more };
}

async function lookAtLines(
  backend: Backend,
  { key, experiment, trial, filter }: SeriesTopic,
  after: Place | null,
) {
  const limit = seriesPage;
  const asked = {
    task: trial || experiment,
    // The query for the end has no filter: the log ends with its last line, whether it matches or not.
    ...(filter === undefined || after === null ? {} : { filter }),
    ...(after === null ? { tail: 1 } : { after: after.position, limit }),
  };
  const { page, lines } = await linesAfter(backend, asked, asGateway());
  const last = lines.at(-1)?.cursor ?? "";
  // For a tail query, `next` is the page before the last line, so the last line's cursor is used instead.
  const position = after === null ? last || "0" : page.next || last || after.position;
  const next = { position, epoch: page.epoch ?? "" };
  const items = after === null ? [] : lines;
  return { ...framed({ case: "lines", value: { topic: key, items } }, next), more: page.more };
}

/** Returns the point with only the named metrics; nothing if it has none of them. */
function named(item: Plain<StreamedMetric>, names: readonly string[]): Plain<StreamedMetric>[] {
  const { point } = item;
  if (names.length === 0 || point === undefined) return [item];
  const only = <Value>(values: Readonly<Record<string, Value>>): Record<string, Value> =>
    Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
  const metrics = only(point.metrics);
  const others = only(point.others ?? {});
  const isWanted = Object.keys(metrics).length + Object.keys(others).length > 0;
  return isWanted ? [{ ...item, point: { ...point, metrics, others } }] : [];
}

type ItemsContent = Extract<FrameContent, { case: "points" | "lines" }>;

/** Returns the items of a page as one frame. */
const framed = (content: ItemsContent, next: Place) => ({
  items:
    content.value.items.length === 0 ? [] : [{ text: frameText(content), position: next.position }],
  next,
});
