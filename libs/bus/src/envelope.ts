/**
 * An event as a NATS message: CloudEvents 1.0 in binary mode (attributes as `ce-*` headers, the stored body as the
 * body). Values without a CloudEvents attribute have headers of this project (`Ty-…`). Unknown attributes are ignored.
 */
import type { StoredEvent } from "@trainyard/event-log";
import { categoryOf, Fault, idOf } from "@trainyard/kernel";
import { decodeHeaderValue, encodeHeaderValue, headerNames } from "./headers.ts";
import type { EventOrigin } from "./port.ts";
import { eventSubject } from "./subjects.ts";

/** The headers of a message by name. A map finds names that were just read faster than an object does. */
export type HeaderMap = Map<string, string>;

const metaNames = [
  "workspace",
  "correlationid",
  "causationid",
  "authid",
  "traceparent",
] as const satisfies readonly (keyof StoredEvent["meta"])[];

/** The origin of an event whose message does not name it. */
export const unknownOrigin: EventOrigin = { log: "", epoch: "", previousId: "" };

const originNames = [
  "log",
  "epoch",
  "previousId",
] as const satisfies readonly (keyof EventOrigin)[];

export function headersOfEvent(event: StoredEvent, origin: EventOrigin = unknownOrigin): HeaderMap {
  const headers: HeaderMap = new Map([
    ["ce-specversion", "1.0"],
    ["ce-id", encodeHeaderValue(event.id)],
    ["ce-source", encodeHeaderValue(event.meta.source)],
    ["ce-type", encodeHeaderValue(event.type)],
    ["ce-subject", encodeHeaderValue(event.stream)],
    ["ce-time", new Date(event.timeMs).toISOString()],
    ["ce-sequence", String(event.position)],
    [headerNames.contentType, "application/json"],
    [headerNames.streamVersion, String(event.version)],
    [headerNames.commitId, encodeHeaderValue(event.commitId)],
  ]);
  for (const name of metaNames) {
    const value = event.meta[name];
    if (value !== "") headers.set(`ce-${name}`, encodeHeaderValue(value));
  }
  for (const name of originNames) {
    const value = origin[name];
    if (value !== "") headers.set(headerNames[name], encodeHeaderValue(value));
  }
  return headers;
}

export function originOfHeaders(headers: ReadonlyMap<string, string>): EventOrigin {
  const read = (name: keyof EventOrigin): string =>
    decodeHeaderValue(headers.get(headerNames[name]) ?? "");
  return { log: read("log"), epoch: read("epoch"), previousId: read("previousId") };
}

/** Parses the event of a message. Throws a Fault `not_an_event`, which must not be retried, if headers are missing. */
export function eventOfHeaders(headers: ReadonlyMap<string, string>, body: string): StoredEvent {
  const get = (name: string): string => headers.get(name) ?? "";
  const read = (name: string): string => decodeHeaderValue(get(name));
  const position = Number(get("ce-sequence"));
  const version = Number(get(headerNames.streamVersion));
  const timeMs = Date.parse(get("ce-time"));
  const id = read("ce-id");
  if (!(position > 0) || !(version > 0) || Number.isNaN(timeMs) || id === "") {
    throw new Fault("not_an_event", "a message lacks the headers of an event", { retry: "never" });
  }
  return {
    position,
    stream: read("ce-subject"),
    version,
    id,
    type: read("ce-type"),
    timeMs,
    commitId: read(headerNames.commitId),
    meta: {
      source: read("ce-source"),
      workspace: read("ce-workspace"),
      correlationid: read("ce-correlationid"),
      causationid: read("ce-causationid"),
      authid: read("ce-authid"),
      traceparent: read("ce-traceparent"),
    },
    body,
  };
}

/** Returns the subject of a stored event: ty.event.<aggregate>.<id>.<Event>. */
export function subjectOfEvent(event: StoredEvent): string {
  const name = event.type.split(".")[3];
  if (name === undefined) {
    throw new Fault("not_an_event", `"${event.type}" is not the type of an event`, {
      retry: "never",
    });
  }
  return eventSubject(categoryOf(event.stream), idOf(event.stream), name);
}
