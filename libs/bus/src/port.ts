/**
 * The port of the bus, with two adapters: NATS in production, in memory in unit tests and simulations.
 *
 * The contract suite tests each of these promises:
 * - Events: at most once, in position order, possibly with gaps; a reader that needs every event reads the log for the
 *   gap.
 * - Requests: at most once; a request always ends by its deadline, then as a Fault with retry "later".
 * - Messages (agents, live copies): at most once, unordered between subjects.
 */
import type { StoredEvent } from "@trainyard/event-log";

/** The parts of a command besides its body; NATS sends them as headers. */
export type CommandHeaders = {
  /**
   * A UUID, derived from caller and idempotency key, that identifies the command's effect: a retry with it changes
   * nothing.
   */
  readonly commitId: string;
  /** An opaque id of the caller. */
  readonly authid: string;
  readonly traceparent: string;
  readonly correlationid: string;
};

export type CommandRequest = { readonly headers: CommandHeaders; readonly body: Uint8Array };

/** A command at its handler. */
export type ServedCommand = CommandRequest & {
  /** Whether the caller's deadline has passed: nobody reads the answer, and the caller may have asked again. */
  readonly isLate: () => boolean;
};

/** Proto JSON in the request and in the answer, which is the reply message or a Rejected. */
export type CommandReply =
  | { readonly kind: "ok"; readonly body: Uint8Array }
  | { readonly kind: "rejected"; readonly body: Uint8Array }
  /**
   * The service could not decide, for example because its leader or database is unavailable. The caller may retry after
   * `retryAfterMs`.
   */
  | { readonly kind: "unavailable"; readonly detail: string; readonly retryAfterMs: number };

export type CommandHandler = (request: ServedCommand) => Promise<CommandReply>;

export type Message = {
  readonly subject: string;
  readonly body: Uint8Array;
  /** The server says that nobody listened to a message that named this subject for its answer. */
  readonly isUnheard: boolean;
};

/** A message with headers, which asks for an answer on a subject. */
export type AskingMessage = {
  /** Any text is a value: the bus encodes it. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  /** The subject on which the listener answers, and on which the server says that there is no listener. */
  readonly answerTo: string;
};

/** The log whose events are in EVENTS, and an id for the gapless content since the stream was last filled. */
export type EventsEpoch = {
  /** The id of the log's first event. No two logs share it; a restored backup keeps it. */
  readonly log: string;
  /**
   * A UUIDv7, new whenever the stream is filled again from the log: after a wipe, or after the log lost its last
   * events.
   */
  readonly epoch: string;
};

/** The origin of an event on the live tail; strings are empty if its message lacks the header. */
export type EventOrigin = EventsEpoch & {
  /** The id of the event one position before. */
  readonly previousId: string;
};

/** The last message in EVENTS. */
export type LastEvent = EventsEpoch & { readonly position: number; readonly id: string };

export interface Bus extends AsyncDisposable {
  /** Returns whether the connection to the server is up. */
  connected(): boolean;
  /** Returns why the connection is down; null while it is up. */
  outage(): string | null;
  /** Registers a callback for every change of `connected()`. */
  onConnection(callback: (connected: boolean) => void): Disposable;

  /** Sends the command ty.cmd.<service>.<Command> and waits for its answer until the deadline. */
  request(
    service: string,
    command: string,
    request: CommandRequest,
    deadlineMs: number,
  ): Promise<CommandReply>;

  /** Serves the commands of a service until disposed of; replicas share the load. */
  serve(
    service: string,
    commands: Readonly<Record<string, CommandHandler>>,
  ): Promise<AsyncDisposable>;

  /**
   * Publishes a core message, which is lost without a listener. `subjects.ts` has the functions that encode ids in
   * subjects.
   */
  publish(subject: string, body: Uint8Array): void;
  /**
   * Publishes a core message that asks for an answer. Returns false if it was not sent: without a connection, or if it
   * is too large.
   */
  publishAsking(subject: string, message: AskingMessage): boolean;
  /** In the subject, `*` matches one token, and a final `>` matches the rest. */
  subscribe(subject: string, callback: (message: Message) => void): Promise<AsyncDisposable>;

  /**
   * Subscribes to new events in EVENTS; positions ascend within an epoch. A reader that folds events must compare their
   * origin with the log that it follows, because other relays on the same account are received too. The callback must
   * not throw.
   */
  tailEvents(callback: (event: StoredEvent, origin: EventOrigin) => void): Promise<AsyncDisposable>;

  /**
   * Publishes consecutive events into EVENTS in order, for the relay. The message id is made of the epoch and the
   * event's id, and each message expects its predecessor as the last one. Resolves when all are acknowledged. Throws a
   * Fault "relay_diverged" if another publisher interfered: the caller must read `lastEvent` again.
   */
  publishEvents(events: readonly StoredEvent[], epoch?: EventsEpoch): Promise<void>;
  /** The last message in EVENTS; null for an empty (new or wiped) stream. */
  lastEvent(): Promise<LastEvent | null>;
  /** The same for services that do not publish events: it neither sets up the stream nor begins a chain. */
  lastPublished(): Promise<LastEvent | null>;
  /** Empties EVENTS when it has events that the log lost (a restored backup). */
  clearEvents(): Promise<void>;

  /**
   * Publishes to a short-lived stream (METRICS, LOGS) without waiting; the message is lost while the server is
   * unavailable.
   */
  publishLive(stream: "METRICS" | "LOGS", subject: string, body: Uint8Array): void;
  /** Subscribes to new live copies. */
  tailLive(subject: string, callback: (message: Message) => void): Promise<AsyncDisposable>;
}
