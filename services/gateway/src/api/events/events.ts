/** The calls about events: a stream of those that a filter selects, a list, and one event with its whole body. */
import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import { isRejection } from "@trainyard/kernel";
import { LeavingEvent, mayRead, readPlace } from "@trainyard/outbound";
import type { Backend } from "../../backend.ts";
import { FairQueue } from "../../http/fair-queue.ts";
import { notFound, Problem } from "../../http/problem.ts";
import type { RequestContext, SomeHandlers } from "../../http/request-context.ts";
import { apiLimits } from "../limits.ts";
import { factsOf } from "./facts.ts";
import { listEvents } from "./list-events.ts";
import { watchEvents } from "./watch-events.ts";

export function eventHandlers(backend: Backend) {
  const replays = new FairQueue(apiLimits.eventReplays);
  return {
    unary: {
      listEvents: (request, context) => listEvents(backend, request, context),
      getEvent: (request, context) => getEvent(backend, request, context),
    },
    streams: {
      watchEvents: (request, context) => watchEvents(backend, replays, request, context),
    },
  } satisfies SomeHandlers;
}

async function getEvent(
  backend: Backend,
  { position }: RequestOf<"getEvent">,
  context: RequestContext,
): Promise<ReplyOf<"getEvent">> {
  const place = readPlace(position);
  if (isRejection(place) || place.position === 0) {
    throw new Problem(400, "invalid_request", `${JSON.stringify(position)} is not a log position`);
  }
  const [stored] = await backend.parts.log.readAll(place.position - 1, 1);
  if (stored?.position !== place.position) throw notFound("event", position);
  const event = new LeavingEvent(stored, await backend.parts.epoch.current());
  const { objects } = await factsOf(backend, { filter: null, rights: context.rights }, [event]);
  if (!mayRead(context.rights, event, objects)) throw notFound("event", position);
  return event.whole;
}
