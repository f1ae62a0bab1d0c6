/**
 * Publishes the log into EVENTS in order, with several hundred events in flight.
 *
 * Each message carries an id, made of its epoch and its event, so that a duplicate is harmless. It also carries the
 * previous message's id: the server refuses it unless that is the last stored one. JetStream processes the messages of
 * one connection in order, so the publisher need not wait between messages: if one is lost or refused, the server
 * refuses all later ones, and nothing is reordered. For the same reason a confirmation also confirms all earlier
 * messages, so only some messages request one. After the stream's end was read, the first message expects the stream's
 * last sequence instead of an id, because a restarted server forgets the last id after the duplicate window.
 *
 *   idle ──publish──► looking at the stream's end ──► sending ⇄ waiting for a confirmation ──all confirmed──► idle
 * Any failure stops all messages in flight; the next publish starts behind the last confirmed message.
 */
import type { Msg } from "@nats-io/nats-core";
import type { StoredEvent } from "@trainyard/event-log";
import { assert, Fault } from "@trainyard/kernel";
import { headersOfEvent, subjectOfEvent, unknownOrigin } from "../envelope.ts";
import { assertAscending } from "../ascending.ts";
import { messageTooLarge, relayDiverged, unconfirmed } from "../faults.ts";
import { headerNames } from "../headers.ts";
import { busLimits } from "../limits.ts";
import type { EventsEpoch, LastEvent } from "../port.ts";
import { endOfEvents, type EventsEnd, endUnreadable } from "./events-end.ts";
import type { Link } from "./link.ts";
import type { Replies } from "./replies.ts";
import type { Streams } from "./streams.ts";
import { wireHeaders } from "./wire-headers.ts";

/** The end of the chain: the last sent message, or the last stored one with its sequence. */
type End = { readonly position: number; readonly id: string } & (
  | { readonly sequence: number }
  | { readonly messageId: string }
);
type Batch = {
  readonly lastIndex: number;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
};
type Item = {
  readonly event: StoredEvent;
  readonly epoch: EventsEpoch;
  readonly bytes: Uint8Array;
  readonly closesBatch: boolean;
};

const wrongLastId = 10070;
const wrongLastSequence = 10071;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class EventPublisher {
  readonly #link: Link;
  readonly #replies: Replies;
  readonly #streams: Streams;
  /** Items by their number, counted from the first event ever published; numbers `#confirmed + 1` to `#enqueued`. */
  readonly #items = new Map<number, Item>();
  #batches: Batch[] = [];
  #enqueued = 0;
  #sent = 0;
  #confirmed = 0;
  #bytesInFlight = 0;
  #unasked = { events: 0, bytes: 0 };
  /** The predecessor of the next message; null if the stream must be read first. */
  #end: End | null = null;
  #running = false;
  #progressed: () => void = () => {};
  #failed: ((fault: unknown) => void) | null = null;

  constructor(link: Link, replies: Replies, streams: Streams) {
    this.#link = link;
    this.#replies = replies;
    this.#streams = streams;
  }

  publish(events: readonly StoredEvent[], epoch: EventsEpoch = unknownOrigin): Promise<void> {
    if (events.length === 0) return Promise.resolve();
    assertAscending(events);
    for (const [index, event] of events.entries()) {
      this.#enqueued += 1;
      this.#items.set(this.#enqueued, {
        event,
        epoch,
        bytes: encoder.encode(event.body),
        closesBatch: index === events.length - 1,
      });
    }
    return new Promise((resolve, reject) => {
      this.#batches.push({ lastIndex: this.#enqueued, resolve, reject });
      void this.#run();
    });
  }

  /** Returns the last message of the stream, which the next published message follows. */
  async last(): Promise<LastEvent | null> {
    const end = await this.#look();
    if (this.#sent === this.#enqueued) this.#end = end;
    if (end.position === 0) return null;
    return { position: end.position, id: end.id, log: end.log, epoch: end.epoch };
  }

  /**
   * Empties the stream. The server still remembers the ids of the last 30 seconds: it refuses a repeated id of the same
   * epoch, and all messages after it. The caller must retry later.
   */
  async clear(): Promise<void> {
    const manager = await this.#streams.ensure("EVENTS");
    try {
      await manager.streams.purge("EVENTS");
    } catch (error) {
      this.#streams.forget("EVENTS");
      throw new Fault("stream_unavailable", "stream EVENTS cannot be emptied", {
        retry: "later",
        cause: error,
      });
    }
    if (this.#sent === this.#enqueued) this.#end = null;
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      while (this.#confirmed < this.#enqueued) {
        await this.#streams.ensure("EVENTS");
        this.#end ??= await this.#look();
        await this.#sendAll();
      }
    } catch (fault) {
      this.#abandon(fault);
    }
    this.#running = false;
  }

  /** Sends as long as items are queued, and waits while too many are in flight. */
  async #sendAll(): Promise<void> {
    const failure = new Promise<never>((_, reject) => {
      this.#failed = reject;
    });
    // A failure may occur while nothing awaits this promise; the next wait sees the failure.
    failure.catch(() => {});
    while (this.#confirmed < this.#enqueued) {
      while (this.#sent < this.#enqueued && this.#hasRoom()) this.#sendNext();
      if (this.#confirmed === this.#enqueued) return;
      const progress = new Promise<void>((resolve) => {
        this.#progressed = resolve;
      });
      await Promise.race([progress, failure]);
    }
  }

  #hasRoom(): boolean {
    return (
      this.#sent - this.#confirmed < busLimits.eventsInFlightMax &&
      this.#bytesInFlight < busLimits.eventBytesInFlightMax
    );
  }

  #sendNext(): void {
    const index = this.#sent + 1;
    const item = this.#items.get(index);
    const end = this.#end;
    assert(item !== undefined && end !== null, "an item is sent after the stream's end is known");
    const { event, epoch, bytes } = item;
    this.#sent = index;
    if (event.position <= end.position) {
      // The item is stored or in flight already: it is confirmed together with the one sent before it.
      this.#items.delete(index);
      this.#confirm(this.#confirmed);
      return;
    }
    // The previous event's id in the log: listeners use it to detect a gap in their fold.
    const previousId = end.position === event.position - 1 ? end.id : "";
    const headers = headersOfEvent(event, { log: epoch.log, epoch: epoch.epoch, previousId });
    // The epoch in the id lets a refilled stream start at once, although the server still remembers the ids of the old
    // epoch.
    const messageId = epoch.epoch === "" ? event.id : `${epoch.epoch}.${event.id}`;
    headers.set(headerNames.messageId, messageId);
    if ("messageId" in end) headers.set(headerNames.expectedLastId, end.messageId);
    else headers.set(headerNames.expectedLastSequence, String(end.sequence));
    const subject = subjectOfEvent(event);
    const inbox = this.#confirmationFor(index, item, subject);
    try {
      const options = {
        headers: wireHeaders(headers),
        ...(inbox === null ? {} : { reply: inbox }),
      };
      this.#link.connection().publish(subject, bytes, options);
    } catch (error) {
      throw error instanceof Fault ? error : messageTooLarge(subject, bytes.byteLength, error);
    }
    this.#end = { position: event.position, id: event.id, messageId };
    this.#bytesInFlight += bytes.byteLength;
  }

  /**
   * Returns an inbox for the confirmation of this message; null for a message without one. The last message of a batch,
   * and one in every few, requests a confirmation.
   */
  #confirmationFor(index: number, item: Item, subject: string): string | null {
    this.#unasked.events += 1;
    this.#unasked.bytes += item.bytes.byteLength;
    const due =
      item.closesBatch ||
      this.#unasked.events >= busLimits.eventsPerConfirmation ||
      this.#unasked.bytes >= busLimits.eventBytesPerConfirmation;
    if (!due) return null;
    this.#unasked = { events: 0, bytes: 0 };
    const position = item.event.position;
    const end = (): void => {
      clearTimeout(timer);
      expected[Symbol.dispose]();
    };
    const fail = (fault: unknown): void => {
      end();
      if (index > this.#confirmed) this.#failed?.(fault);
    };
    const expected = this.#replies.expect(
      subject,
      (message) => {
        end();
        const fault = refusalOf(message, position);
        if (fault === null) this.#confirm(index);
        else fail(fault);
      },
      (fault) => fail(unconfirmed(position, fault.message)),
    );
    const timer = setTimeout(
      () => fail(unconfirmed(position, `no confirmation within ${busLimits.confirmationMs} ms`)),
      busLimits.confirmationMs,
    );
    return expected.inbox;
  }

  #confirm(index: number): void {
    if (index < this.#confirmed || index > this.#sent) return;
    while (this.#confirmed < this.#sent) {
      const next = this.#confirmed + 1;
      const item = this.#items.get(next);
      // Skipped items are already deleted and need no confirmation.
      if (next > index && item !== undefined) break;
      this.#bytesInFlight -= item?.bytes.byteLength ?? 0;
      this.#items.delete(next);
      this.#confirmed = next;
    }
    while (this.#batches[0] !== undefined && this.#batches[0].lastIndex <= this.#confirmed) {
      this.#batches.shift()?.resolve();
    }
    this.#progressed();
  }

  #abandon(fault: unknown): void {
    const batches = this.#batches;
    this.#batches = [];
    this.#items.clear();
    this.#confirmed = this.#enqueued;
    this.#sent = this.#enqueued;
    this.#bytesInFlight = 0;
    this.#unasked = { events: 0, bytes: 0 };
    this.#failed = null;
    this.#end = null;
    this.#streams.forget("EVENTS");
    for (const batch of batches) batch.reject(fault);
  }

  async #look(): Promise<EventsEnd> {
    const manager = await this.#streams.ensure("EVENTS");
    try {
      return await endOfEvents(manager);
    } catch (error) {
      this.#streams.forget("EVENTS");
      throw endUnreadable(error);
    }
  }
}

type PublishAnswer = {
  readonly error?: { readonly err_code?: number; readonly description?: string };
};

/** Returns the Fault of a refused publish; null if the server stored the message or detected a duplicate. */
function refusalOf(message: Msg, position: number): Fault | null {
  let answer: PublishAnswer;
  try {
    answer = JSON.parse(decoder.decode(message.data)) as PublishAnswer;
  } catch {
    return unconfirmed(position, "the server's answer cannot be read");
  }
  if (answer.error === undefined) return null;
  const detail = answer.error.description ?? "refused";
  const code = answer.error.err_code;
  if (code === wrongLastId || code === wrongLastSequence) return relayDiverged(position, detail);
  return unconfirmed(position, detail);
}
