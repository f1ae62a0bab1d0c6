/** The calls about a search's events, and the operations that the client of a custom search posts. */
import { codecOf, type ReplyOf, type RequestOf, shortNameOf } from "@trainyard/contracts";
import { EventSchema } from "@trainyard/contracts/api";
import { isFullPage, type StoredEvent } from "@trainyard/event-log";
import { type FieldProblem, isExperimentId, streamName } from "@trainyard/kernel";
import { LeavingEvent } from "@trainyard/outbound";
import type { Backend } from "../../backend.ts";
import { countedAs } from "../../http/caller.ts";
import { notFound, Problem } from "../../http/problem.ts";
import type { RequestContext, SomeHandlers, StreamItem } from "../../http/request-context.ts";
import { encoded, follow } from "../../live/follow.ts";
import type { PositionSignal } from "../../live/position-signal.ts";
import { SeriesHub } from "../../live/series-hub.ts";
import { apiLimits } from "../limits.ts";

/** The most events that a search's client gets with the refusal of operations that depend on an older version. */
const newEventsNamed = 20;

type SearchEvent = ReplyOf<"watchSearchEvents">;

const codec = codecOf<SearchEvent>(EventSchema);

export function searchHandlers(backend: Backend, moved: PositionSignal) {
  const hub = new SeriesHub<SearchEvent>(backend.parts, {
    look: ({ experiment }, after) => look(backend, experiment, Number(after?.position ?? 0)),
    tail: async ({ experiment }, wake) => {
      const changed = moved.each(streamName("search", experiment), wake);
      return { [Symbol.asyncDispose]: async () => changed[Symbol.dispose]() };
    },
  });
  return {
    unary: {
      postSearchOperations: (request, context) => post(backend, request, context),
    },
    streams: {
      watchSearchEvents: (request, context) => watch(backend, hub, request, context),
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
  hub: SeriesHub<SearchEvent>,
  { experiment, after, noFollow }: RequestOf<"watchSearchEvents">,
  { caller, lastEventId, signal }: RequestContext,
): AsyncGenerator<StreamItem<SearchEvent>> {
  await backend.get("experiment", experiment);
  const version = lastEventId === undefined ? after : readVersion(lastEventId);
  const of = { kind: "search", experiment, trial: "", group: "", names: [] } as const;
  const from = { position: String(version), epoch: "" };
  const asked = { caller: countedAs(caller), topic: { ...of, key: experiment, name: "" }, from };
  for await (const { message, text, mark } of follow(hub, { ...asked, noFollow }, signal))
    if (message !== undefined) yield { id: mark.place.position, message, text };
}

/** Returns the events of a search after a version. */
async function look({ parts }: Backend, experiment: string, version: number) {
  const { searchEventsPage } = apiLimits;
  // The last known event is read again: the stream also ends for a client that reconnects after the last one.
  const known = Math.max(0, version - 1);
  const events = await parts.log.read(streamName("search", experiment), known, searchEventsPage);
  const epoch = await parts.epoch.current();
  const items = events
    .filter((event) => event.version > version)
    .map((event) => encoded(codec, new LeavingEvent(event, epoch).whole, String(event.version)));
  const last = events.at(-1);
  const more = isFullPage(events, searchEventsPage);
  return {
    items,
    next: { position: String(Math.max(version, last?.version ?? 0)), epoch: "" },
    more,
    isOver: !more && last !== undefined && shortNameOf(last.type) === "SearchCompleted",
  };
}

function readVersion(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Problem(400, "invalid_request", `${JSON.stringify(text)} is not a search's version`);
}
