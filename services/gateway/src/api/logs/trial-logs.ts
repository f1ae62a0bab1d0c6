import { type Bus, logSubject, logTaskOf } from "@trainyard/bus";
import { codecOf, type Plain } from "@trainyard/contracts";
import { type TrialLogLine, TrialLogLineSchema } from "@trainyard/contracts/api";
import { LogSource, type StoredLine } from "@trainyard/contracts/commands";
import { isTaskId, parseTrialId } from "@trainyard/kernel";
import { asGateway, type Asker, type Backend } from "../../backend.ts";
import { countedAs } from "../../http/caller.ts";
import type { RequestContext, SomeHandlers, StreamItem } from "../../http/request-context.ts";
import type { LineFilter, SeriesTopic } from "../../live/core/series.ts";
import { encoded, follow } from "../../live/follow.ts";
import type { PositionSignal } from "../../live/position-signal.ts";
import type { SeriesHub } from "../../live/series-hub.ts";
import { followedUntilEnd } from "../followed.ts";
import { pageSize } from "../paging.ts";
import { conditionsOf, levelNames, sourceNames } from "./log-filter.ts";

/** Log lines in one page from the logs service. */
const logPageLines = 1_000;

type Query = {
  readonly task: string;
  readonly after?: string;
  readonly before?: string;
  readonly limit?: number;
  readonly tail?: number;
  readonly filter?: LineFilter;
};

async function query(backend: Backend, asked: Query, context: Asker) {
  const { task, after = "", before = "", limit = 0, tail = 0, filter } = asked;
  const conditions = filter === undefined ? {} : conditionsOf(filter);
  const message = { task, after, before, limit, tail, ...conditions };
  return backend.command("logs", "QueryLines", message, context);
}

function shownLine(stored: Plain<StoredLine>): Plain<TrialLogLine> {
  const { trial, run, line, cursor, level, receivedAtMs } = stored;
  return {
    trial,
    run,
    nodeRank: line?.nodeRank ?? 0,
    atMs: line?.atMs ?? 0,
    source: sourceNames.get(line?.source ?? LogSource.UNSPECIFIED) ?? "",
    text: line?.text ?? "",
    continued: line?.continued ?? false,
    cursor,
    level: levelNames.get(level) ?? "",
    receivedAtMs,
    ...(line?.rank === undefined ? {} : { rank: line.rank }),
  };
}

/** Returns a page of lines, also in the form of the API. */
export async function linesAfter(backend: Backend, asked: Query, context: Asker) {
  const page = await query(backend, asked, context);
  return { page, lines: page.lines.map(shownLine) };
}

export async function lastLines(
  backend: Backend,
  trial: string,
  tail: number,
  context: RequestContext,
): Promise<readonly string[]> {
  const page = await query(backend, { task: trial, tail }, context);
  return page.lines.map(({ line }) => line?.text ?? "");
}

export function logHandlers(backend: Backend, lines: FollowedLines) {
  return {
    unary: {
      listTrialLogs: async (asked, context) => {
        await backend.get("trial", asked.trial);
        return listLines(backend, asked.trial, asked, context);
      },
      listExperimentLogs: async (asked, context) => {
        await backend.get("experiment", asked.experiment);
        return listLines(backend, asked.experiment, asked, context);
      },
    },
    streams: {
      followTrialLogs: async function* ({ trial, ...asked }, context) {
        await backend.get("trial", trial);
        yield* followLines(lines, { experiment: "", trial }, asked, context);
      },
      followExperimentLogs: async function* ({ experiment, ...asked }, context) {
        await backend.get("experiment", experiment);
        yield* followLines(lines, { experiment, trial: "" }, asked, context);
      },
    },
  } satisfies SomeHandlers;
}

type Listed = LineFilter & {
  readonly pageSize: number;
  readonly pageToken: string;
  readonly tail: number;
  readonly after: string;
  readonly before: string;
};

/** Returns a page of the lines of a trial, of all trials of an experiment, or of a task. */
export async function listLines(
  backend: Backend,
  task: string,
  asked: Listed,
  context: RequestContext,
) {
  const { tail, before } = asked;
  const after = asked.pageToken || asked.after;
  const limit = pageSize(asked.pageSize);
  const page = await query(backend, { task, after, before, limit, tail, filter: asked }, context);
  return {
    items: page.lines.map(shownLine),
    nextPageToken: page.more ? page.next : "",
    position: backend.position,
    before: tail > 0 ? page.next : "",
    ...(page.removed === undefined ? {} : { removed: page.removed }),
  };
}

/** The hub of the streams of lines. */
export type FollowedLines = SeriesHub<Plain<TrialLogLine>>;

export function followedLines(backend: Backend, moved: PositionSignal): FollowedLines {
  return followedUntilEnd(backend, moved, {
    async look({ experiment, trial, filter }, after) {
      const asked = { task: trial || experiment, limit: logPageLines, ...(filter && { filter }) };
      const from = after?.position ?? "";
      const { page, lines } = await linesAfter(backend, { ...asked, after: from }, asGateway());
      const items = lines.map((line) => encoded(lineCodec, line, line.cursor));
      return { items, next: { position: page.next, epoch: "" }, more: page.more };
    },
    tail: ({ experiment, trial }, wake) =>
      tailOwnLines(backend.parts.bus, trial || experiment, wake),
  });
}

const lineCodec = codecOf<Plain<TrialLogLine>>(TrialLogLineSchema);

/** Streams the lines of an experiment, or of a trial or a task, until it is over. */
export async function* followLines(
  hub: FollowedLines,
  of: Pick<SeriesTopic, "experiment" | "trial">,
  { after, ...filter }: LineFilter & { readonly after: string },
  { caller, lastEventId, signal }: RequestContext,
): AsyncGenerator<StreamItem<Plain<TrialLogLine>>> {
  const key = JSON.stringify([of, conditionsOf(filter)]);
  const topic = { ...of, key, name: "", kind: "lines", group: "", names: [], filter } as const;
  const from = { position: lastEventId ?? after, epoch: "" };
  const followed = follow(hub, { caller: countedAs(caller), topic, from }, signal);
  for await (const { message, text, mark } of followed)
    if (message !== undefined) yield { id: mark.place.position, message, text };
}

/** Calls `announce` when lines of a trial or a task, or of any trial of an experiment, were stored. */
export function tailOwnLines(
  bus: Bus,
  task: string,
  announce: () => void,
): Promise<AsyncDisposable> {
  if (parseTrialId(task) !== null || isTaskId(task))
    return bus.tailLive(logSubject(task), announce);
  return bus.tailLive("ty.log.>", ({ subject }) => {
    if (parseTrialId(logTaskOf(subject))?.experiment === task) announce();
  });
}
