import type { Plain } from "@trainyard/contracts";
import type { TrialLogLine } from "@trainyard/contracts/api";
import {
  LinePageSchema,
  LogSource,
  QueryLinesSchema,
  type StoredLine,
} from "@trainyard/contracts/commands";
import { pause } from "@trainyard/kernel";
import type { RequestContext, SomeHandlers, StreamItem } from "../http/request-context.ts";
import { gatewayLimits } from "../limits.ts";
import type { Backend } from "../shell/backend.ts";
import { pageSize } from "./paging.ts";

const sources: Readonly<Record<number, string>> = {
  [LogSource.STDOUT]: "stdout",
  [LogSource.STDERR]: "stderr",
  [LogSource.AGENT]: "agent",
};

/** The states after which a trial or an experiment says no more. */
const ended: ReadonlySet<string> = new Set(["COMPLETED", "CANCELED", "ERROR"]);

type Query = {
  readonly task: string;
  readonly after?: string;
  readonly limit?: number;
  readonly tail?: number;
};

async function query(backend: Backend, asked: Query, context: RequestContext) {
  return backend.command(
    "logs",
    QueryLinesSchema,
    { task: asked.task, after: asked.after ?? "", limit: asked.limit ?? 0, tail: asked.tail ?? 0 },
    LinePageSchema,
    context,
  );
}

function shownLine({ trial, run, line, cursor }: Plain<StoredLine>): Plain<TrialLogLine> {
  return {
    trial,
    run,
    nodeRank: line?.nodeRank ?? 0,
    atMs: line?.atMs ?? 0,
    source: sources[line?.source ?? 0] ?? "",
    text: line?.text ?? "",
    continued: line?.continued ?? false,
    cursor,
  };
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

export function logHandlers(backend: Backend) {
  return {
    unary: {
      listTrialLogs: async ({ trial, pageSize: asked, pageToken, tail }, context) => {
        await backend.get("trial", trial);
        const limit = pageSize(asked);
        const page = await query(backend, { task: trial, after: pageToken, limit, tail }, context);
        const nextPageToken = page.more ? (page.lines.at(-1)?.cursor ?? "") : "";
        return { items: page.lines.map(shownLine), nextPageToken, position: backend.position };
      },
    },
    streams: {
      followTrialLogs: async function* ({ trial, after }, context) {
        await backend.get("trial", trial);
        const over = async () => ended.has((await backend.get("trial", trial)).state);
        yield* follow(backend, trial, context.lastEventId ?? after, over, context);
      },
      followExperimentLogs: async function* ({ experiment, after }, context) {
        await backend.get("experiment", experiment);
        const over = async () => ended.has((await backend.get("experiment", experiment)).state);
        yield* follow(backend, experiment, context.lastEventId ?? after, over, context);
      },
    },
  } satisfies SomeHandlers;
}

/**
 * Lines as they come, until the task is over and a last look after that found nothing. Announcements on the bus only
 * shorten the wait; the store is what is read.
 */
async function* follow(
  backend: Backend,
  task: string,
  from: string,
  over: () => Promise<boolean>,
  context: RequestContext,
): AsyncGenerator<StreamItem<Plain<TrialLogLine>>> {
  const { bus, clock } = backend.parts;
  let announced = new AbortController();
  await using _tail = await bus.tailLive("ty.log.>", () => announced.abort());
  let after = from;
  for (let last = false; ; ) {
    announced = new AbortController();
    last = await over();
    for (let more = true; more && !context.signal.aborted; ) {
      const page = await query(
        backend,
        { task, after, limit: gatewayLimits.logPageLines },
        context,
      );
      for (const line of page.lines) yield { id: line.cursor, message: shownLine(line) };
      after = page.lines.at(-1)?.cursor ?? after;
      more = page.more;
    }
    if (last || context.signal.aborted) return;
    await pause(
      clock,
      gatewayLimits.logPollMs,
      AbortSignal.any([announced.signal, context.signal]),
    );
  }
}
