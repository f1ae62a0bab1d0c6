import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import type { EventLog, SomeEvents } from "@trainyard/event-log";
import { isRejection, pause } from "@trainyard/kernel";
import { checkedPlace, LeavingEvent, placeText, readPlace } from "@trainyard/outbound";
import { streamsOfExperiment } from "@trainyard/runtime";
import type { Backend } from "../../backend.ts";
import { notFound, Problem, problemOf } from "../../http/problem.ts";
import type { RequestContext, SomeHandlers, StreamItem } from "../../http/request-context.ts";
import type { PositionSignal } from "../../live/position-signal.ts";
import { listEvents } from "./list-events.ts";

/** The positions that are scanned at once for the events of one experiment, in about ten milliseconds. */
const watchedPositions = 4_000;

/** The events that a watch reads from the log at once. */
const watchPage = 500;

export function eventHandlers(backend: Backend, moved: PositionSignal) {
  return {
    unary: {
      listEvents: (request, context) => listEvents(backend, request, context),
      getEvent: (request) => getEvent(backend, request),
    },
    streams: {
      watchEvents: (request, context) => watchEvents(backend, moved, request, context),
    },
  } satisfies SomeHandlers;
}

async function getEvent(
  backend: Backend,
  { position }: RequestOf<"getEvent">,
): Promise<ReplyOf<"getEvent">> {
  const place = readPlace(position);
  if (isRejection(place) || place.position === 0) {
    throw new Problem(400, "invalid_request", `${JSON.stringify(position)} is not a log position`);
  }
  const [event] = await backend.parts.log.readAll(place.position - 1, 1);
  if (event?.position !== place.position) throw notFound("event", position);
  return new LeavingEvent(event, await backend.parts.epoch.current()).whole;
}

async function* watchEvents(
  backend: Backend,
  moved: PositionSignal,
  request: RequestOf<"watchEvents">,
  context: RequestContext,
): AsyncGenerator<StreamItem<ReplyOf<"watchEvents">>> {
  const { experiment, noFollow } = request;
  const { log, clock, epoch } = backend.parts;
  const place = readPlace(context.lastEventId ?? request.after);
  if (isRejection(place)) throw problemOf(place);
  const from = await checkedPlace(log, place);
  if (isRejection(from)) throw problemOf(from);
  let after = from.position;
  while (!context.signal.aborted) {
    const change = moved.next("*");
    const { events, scannedTo } = await eventsAfter(log, experiment, after);
    for (const event of events) {
      const id = placeText({ position: event.position, event: event.id });
      yield { id, message: new LeavingEvent(event, await epoch.current()).shown };
    }
    const moves = scannedTo > after;
    after = scannedTo;
    if (moves) continue;
    if (noFollow) return;
    await pause(clock, 1_000, AbortSignal.any([change, context.signal]));
  }
}

/**
 * Reads the next events. Those of one experiment are selected in the database, which scans more positions than it
 * returns.
 */
async function eventsAfter(log: EventLog, experiment: string, after: number): Promise<SomeEvents> {
  if (experiment !== "") {
    return log.readSome(streamsOfExperiment(experiment), after, watchedPositions);
  }
  const events = await log.readAll(after, watchPage);
  return { events, scannedTo: events.at(-1)?.position ?? after };
}
