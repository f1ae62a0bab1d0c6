import { Fault } from "@trainyard/kernel";
import { type AnyEvent, eventTypeByName, eventTypeOf } from "./catalogue.ts";
import { codecOf } from "./codec.ts";
import { upcast } from "./upcasters.ts";

/** Returns the stored type and body of an event. */
export function encodeEvent(event: AnyEvent): { readonly type: string; readonly body: string } {
  const entry = eventTypeByName(event.type);
  return { type: entry.type, body: codecOf<unknown>(entry.schema).encode(event.data) };
}

/** Returns the size that the log measures: the UTF-8 bytes of the event's body. */
export function encodedBytes(event: AnyEvent): number {
  return Buffer.byteLength(encodeEvent(event).body);
}

/**
 * Decodes a stored event, upcast if its type is old. Throws a Fault `unknown_event_type` or `undecodable`, which must
 * not be retried.
 */
export function decodeEvent(stored: { readonly type: string; readonly body: string }): AnyEvent {
  const current = upcast(stored);
  const entry = eventTypeOf(current.type);
  if (entry === undefined) {
    throw new Fault("unknown_event_type", `no event has the type ${stored.type}`, {
      retry: "never",
    });
  }
  return {
    type: entry.name,
    data: codecOf<unknown>(entry.schema).decode(current.body),
  } as AnyEvent;
}
