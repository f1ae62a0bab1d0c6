/** The calls about a search's events, and the operations that the client of a custom search posts. */
import { type ReplyOf, type RequestOf, shortNameOf } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { type FieldProblem, isExperimentId, pause, streamName } from "@trainyard/kernel";
import { LeavingEvent } from "@trainyard/outbound";
import type { Backend } from "../../backend.ts";
import { notFound, Problem } from "../../http/problem.ts";
import type { RequestContext, SomeHandlers, StreamItem } from "../../http/request-context.ts";
import type { PositionSignal } from "../../live/position-signal.ts";
import { apiLimits } from "../limits.ts";

/** While no announcement arrives, the watcher of a search reads it again at this interval. */
const searchPollMs = 1_000;
/** The most events that a search's client gets with the refusal of operations that depend on an older version. */
const newEventsNamed = 20;

export function searchHandlers(backend: Backend, moved: PositionSignal) {
  return {
    unary: {
      postSearchOperations: (request, context) => post(backend, request, context),
    },
    streams: {
      watchSearchEvents: (request, context) => watch(backend, moved, request, context),
    },
  } satisfies SomeHandlers;
}

async function post(
  backend: Backend,
  { experiment, operations, restsOn }: RequestOf<"postSearchOperations">,
  context: RequestContext,
): Promise<ReplyOf<"postSearchOperations">> {
  if (!isExperimentId(experiment)) throw notFound("experiment", experiment);
  try {
    const { position, version, results } = await backend.command(
      "searcher",
      "PostSearchOperations",
      { experiment, operations, ...(restsOn === undefined ? {} : { restsOn }) },
      context,
    );
    return { position: String(position || backend.position), version, results };
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "search_moved_on") throw error;
    const problems = await whatIsNew(backend, experiment, restsOn ?? 0);
    throw new Problem(error.status, error.code, error.message, { problems });
  }
}

/** Returns each event that the client did not know, by its version. */
async function whatIsNew(
  backend: Backend,
  experiment: string,
  after: number,
): Promise<readonly FieldProblem[]> {
  const stream = streamName("search", experiment);
  const events = await backend.parts.log.read(stream, after, newEventsNamed);
  return events.map((event) => ({ path: `version ${event.version}`, detail: nameOf(event) }));
}

function nameOf(event: StoredEvent): string {
  const { trial, number = trial } = JSON.parse(event.body) as { trial?: number; number?: number };
  return `${shortNameOf(event.type)}${number === undefined ? "" : ` of trial ${number}`}`;
}

async function* watch(
  backend: Backend,
  moved: PositionSignal,
  { experiment, after, noFollow }: RequestOf<"watchSearchEvents">,
  context: RequestContext,
): AsyncGenerator<StreamItem<ReplyOf<"watchSearchEvents">>> {
  await backend.get("experiment", experiment);
  const { log, clock } = backend.parts;
  const stream = streamName("search", experiment);
  let version = context.lastEventId === undefined ? after : readVersion(context.lastEventId);
  while (!context.signal.aborted) {
    using change = moved.next(stream);
    const events = await log.read(stream, version, apiLimits.searchEventsPage);
    for (const event of events) {
      version = event.version;
      yield {
        id: String(version),
        message: new LeavingEvent(event, await backend.parts.epoch.current()).whole,
      };
    }
    if (events.length > 0) continue;
    // The stream also ends for a client that reconnects after the last event; it would otherwise wait forever.
    if (noFollow || (await isCompleted(backend, stream, version))) return;
    await pause(clock, searchPollMs, AbortSignal.any([change.signal, context.signal]));
  }
}

async function isCompleted(backend: Backend, stream: string, version: number): Promise<boolean> {
  if (version === 0) return false;
  const [last] = await backend.parts.log.read(stream, version - 1, 1);
  return last !== undefined && shortNameOf(last.type) === "SearchCompleted";
}

function readVersion(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Problem(400, "invalid_request", `${JSON.stringify(text)} is not a search's version`);
}
