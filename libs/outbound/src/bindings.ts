/**
 * The binary mode of CloudEvents' protocol bindings: attributes as headers, `data` alone as the body. The prefix of
 * NATS is `ce-`, and of Kafka `ce_`. The transport encodes the values, if it must.
 */
import type { LeavingEvent } from "./leaving-event.ts";

export type BinaryEvent = {
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body as JSON; empty if the event has `dataref`. */
  readonly body: string;
};

export function binaryModeOf(event: LeavingEvent, prefix: "ce-" | "ce_"): BinaryEvent {
  const { data, datacontenttype, ...attributes } = event.shown;
  const headers = Object.entries(attributes).map(
    ([name, value]) => [`${prefix}${name}`, String(value)] as const,
  );
  return {
    headers: [...headers, ["content-type", datacontenttype] as const],
    body: data === undefined ? "" : JSON.stringify(data),
  };
}
