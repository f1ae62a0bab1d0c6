import { type Bus, logSubject, logTaskOf } from "@trainyard/bus";
import type { Plain } from "@trainyard/contracts";
import type { TrialLogLine } from "@trainyard/contracts/api";
import { LogSource, type StoredLine } from "@trainyard/contracts/commands";
import { isTaskId, parseTrialId, pause, streamName } from "@trainyard/kernel";
import type { Asker, Backend } from "../../backend.ts";
import type { RequestContext, SomeHandlers, StreamItem } from "../../http/request-context.ts";
import type { PositionSignal } from "../../live/position-signal.ts";
import { pageSize } from "../paging.ts";
import { conditionsOf, type LogFilter, levelNames, sourceNames } from "./log-filter.ts";

/** Log lines in one page from the logs service. */
const logPageLines = 1_000;
/**
 * The interval at which a follower queries lines without announcements. The bus and the log wake it before; this is for
 * what a broken connection to the bus has missed.
 */
const logPollMs = 5_000;
/** The same after an event of the task, which the read model may not have yet. */
const logPollSoonMs = 1_000;

/** The states in which a trial, an experiment or a task writes no more lines. */
const ended: ReadonlySet<string> = new Set(["COMPLETED", "CANCELED", "KILLED", "ERROR"]);

export const hasEnded = ({ state }: { readonly state: string }): boolean => ended.has(state);

type Query = {
  readonly task: string;
  readonly after?: string;
  readonly before?: string;
  readonly limit?: number;
  readonly tail?: number;
  readonly filter?: LogFilter;
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

export function logHandlers(backend: Backend, moved: PositionSignal) {
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
      followTrialLogs: async function* (asked, context) {
        const { trial } = asked;
        await backend.get("trial", trial);
        const over = async () => hasEnded(await backend.get("trial", trial));
        yield* followLines({ backend, moved }, { task: trial, ...asked }, over, context);
      },
      followExperimentLogs: async function* (asked, context) {
        const { experiment } = asked;
        await backend.get("experiment", experiment);
        const over = async () => hasEnded(await backend.get("experiment", experiment));
        yield* followLines({ backend, moved }, { task: experiment, ...asked }, over, context);
      },
    },
  } satisfies SomeHandlers;
}

type Listed = LogFilter & {
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

type Followed = LogFilter & { readonly task: string; readonly after: string };

type Following = { readonly backend: Backend; readonly moved: PositionSignal };

/** Returns the stream in which the end of a trial, an experiment or a task is recorded. */
const streamOf = (task: string): string =>
  streamName(parseTrialId(task) !== null ? "trial" : isTaskId(task) ? "task" : "experiment", task);

/**
 * Streams lines until the task is over, and then reads once more. Lines are read from the store; announcements on the
 * bus and events of the task only shorten the wait.
 */
export async function* followLines(
  { backend, moved }: Following,
  { task, after: from, ...filter }: Followed,
  over: () => Promise<boolean>,
  context: RequestContext,
): AsyncGenerator<StreamItem<Plain<TrialLogLine>>> {
  const { bus, clock } = backend.parts;
  let announced = new AbortController();
  await using _tail = await tailOwnLines(bus, task, () => announced.abort());
  let after = context.lastEventId ?? from;
  let restMs = logPollMs;
  for (let last = false; ; ) {
    announced = new AbortController();
    using change = moved.next(streamOf(task));
    last = await over();
    for (let more = true; more && !context.signal.aborted; ) {
      const page = await query(backend, { task, after, limit: logPageLines, filter }, context);
      for (const line of page.lines) yield { id: line.cursor, message: shownLine(line) };
      after = page.next;
      more = page.more;
    }
    if (last || context.signal.aborted) return;
    const woken = [announced.signal, change.signal, context.signal];
    await pause(clock, restMs, AbortSignal.any(woken));
    restMs = change.signal.aborted ? logPollSoonMs : logPollMs;
  }
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
