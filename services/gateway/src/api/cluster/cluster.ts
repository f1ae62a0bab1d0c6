import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import type { EventLog, SomeEvents } from "@trainyard/event-log";
import { pause } from "@trainyard/kernel";
import { LogIdentity, streamsOfExperiment, version } from "@trainyard/runtime";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, SomeHandlers, StreamItem } from "../../http/request-context.ts";
import type { PositionSignal } from "../../live/position-signal.ts";
import { listViews, rebuildView } from "../views/views.ts";
import { shownEvent } from "./events.ts";
import { listEvents } from "./list-events.ts";
import { tokenHandlers } from "./tokens.ts";
import { verifyLog } from "./verify.ts";

/** The positions that are scanned at once for the events of one experiment, in about ten milliseconds. */
const watchedPositions = 4_000;

/** The events that a watch reads from the log at once. */
const watchPage = 500;

export function clusterHandlers(backend: Backend, moved: PositionSignal) {
  const identity = new LogIdentity(backend.parts.log);
  return {
    unary: {
      getVersion: async () => ({ version, api: "v1", log: await identity.id() }),
      listEvents: (request, context) => listEvents(backend, request, context),
      listParked: (_request, context) => listParked(backend, context),
      retryParked: async (request, context) => {
        const { consumer, key } = request;
        // Only a rebuild of a view applies the events that it has set aside, in their order among all other events.
        const [service = "", view] = consumer.split(".");
        if (view !== undefined)
          return { position: await rebuildView(backend, service, view, context) };
        const { position } = await backend.commonCommand(
          consumer,
          "RetryParked",
          { consumer, key },
          context,
        );
        return { position: String(position) };
      },
      getLogAnchor: async () => {
        const { position, hash } = await backend.parts.log.anchor();
        return { position: String(position), hash, atMs: backend.parts.clock.nowMs() };
      },
      ...tokenHandlers(backend),
    },
    streams: {
      watchEvents: (request, context) => watchEvents(backend, moved, request, context),
      verifyLog: (request, context) => verifyLog(backend, request, context),
    },
  } satisfies SomeHandlers;
}

async function listParked(backend: Backend, context: RequestContext) {
  const rows = await backend.parts.log.parked();
  const items = [];
  for (const row of rows) {
    const [event] = await backend.parts.log.readAll(row.position - 1, 1);
    items.push({
      consumer: row.consumer,
      key: row.key,
      eventPosition: String(row.position),
      type: event?.type ?? "",
      stream: event?.stream ?? "",
      reason: row.reason,
      parkedAtMs: row.parkedAtMs,
    });
  }
  for (const { service, name, setAside } of await listViews(backend, context)) {
    for (const { stream, eventPosition, type, reason, setAsideAtMs } of setAside) {
      const consumer = `${service}.${name}`;
      const parkedAtMs = setAsideAtMs;
      items.push({ consumer, key: stream, eventPosition, type, stream, reason, parkedAtMs });
    }
  }
  return { items, nextPageToken: "", position: backend.position };
}

async function* watchEvents(
  backend: Backend,
  moved: PositionSignal,
  request: RequestOf<"watchEvents">,
  context: RequestContext,
): AsyncGenerator<StreamItem<ReplyOf<"watchEvents">>> {
  let after = readPosition(context.lastEventId ?? request.after);
  const { experiment, noFollow } = request;
  const { log, clock } = backend.parts;
  while (!context.signal.aborted) {
    const change = moved.next("*");
    const { events, scannedTo } = await eventsAfter(log, experiment, after);
    for (const event of events) {
      yield { id: String(event.position), message: shownEvent(event) };
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

function readPosition(text: string): number {
  if (text === "") return 0;
  if (!/^\d{1,15}$/.test(text)) {
    throw new Problem(400, "invalid_request", `${JSON.stringify(text)} is not a log position`);
  }
  return Number(text);
}
