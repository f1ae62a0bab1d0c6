import type { JsonObject } from "@bufbuild/protobuf";
import type { Plain } from "@trainyard/contracts";
import type { Event } from "@trainyard/contracts/api";
import type { StoredEvent } from "@trainyard/event-log";

/** A stored event as the API shows it. */
export function shownEvent(event: StoredEvent): Plain<Event> {
  const { source, correlationid, causationid, authid, workspace, traceparent } = event.meta;
  return {
    id: event.id,
    source,
    type: event.type,
    subject: event.stream,
    timeMs: event.timeMs,
    sequence: String(event.position),
    correlationid,
    causationid,
    authid,
    workspace,
    traceparent,
    data: JSON.parse(event.body) as JsonObject,
    version: event.version,
  };
}
