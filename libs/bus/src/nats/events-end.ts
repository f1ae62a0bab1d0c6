/** Reads the end of EVENTS: for the publisher, and for services that compare it with the log. */
import { JetStreamApiError, type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { assert, Fault } from "@trainyard/kernel";
import { decodeHeaderValue, headerNames } from "../headers.ts";
import { busLimits } from "../limits.ts";
import type { LastEvent } from "../port.ts";
import type { Link } from "./link.ts";

/** The last message with its sequence in the stream; position 0 for an empty stream. */
export type EventsEnd = LastEvent & { readonly sequence: number };

const streamNotFound = 10059;

export async function endOfEvents(manager: JetStreamManager): Promise<EventsEnd> {
  const { state } = await manager.streams.info("EVENTS");
  const sequence = state.last_seq;
  const empty = { position: 0, id: "", log: "", epoch: "", sequence };
  if (state.messages === 0) return empty;
  const message = await manager.streams.getMessage("EVENTS", { seq: sequence });
  // The last message expired between the two requests: the stream is empty.
  if (message === null) return empty;
  const position = Number(message.header.get("ce-sequence"));
  assert(position > 0, "every message in EVENTS has a position");
  const read = (name: string): string => decodeHeaderValue(message.header.get(name));
  const [log, epoch] = [read(headerNames.log), read(headerNames.epoch)];
  return { position, id: read("ce-id"), log, epoch, sequence };
}

/** Returns the last message of a stream that this client does not set up; null for an empty or missing stream. */
export async function lastPublished(link: Link): Promise<LastEvent | null> {
  try {
    const options = { checkAPI: false, timeout: busLimits.streamApiMs };
    const manager = await jetstreamManager(link.connection(), options);
    const { position, id, log, epoch } = await endOfEvents(manager);
    return position === 0 ? null : { position, id, log, epoch };
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === streamNotFound) return null;
    throw endUnreadable(error);
  }
}

export function endUnreadable(cause: unknown): Fault {
  return new Fault("stream_unavailable", "the end of stream EVENTS cannot be read", {
    retry: "later",
    cause,
  });
}
