/**
 * The bus as everything else sees it: NATS in production, an in-memory adapter in unit tests and simulations.
 *
 * Promises, each a test of the contract suite:
 * - Events: at most once, in position order, possibly with gaps; a reader that needs every event reads the log for the
 *   gap.
 * - Requests: at most once; a deadline always ends them, as a Fault with retry "later".
 * - Messages (agents, live copies): at most once, unordered between subjects.
 */
import type { StoredEvent } from "@trainyard/event-log";

/** The parts of a command besides its body; on NATS as headers. */
export type CommandHeaders = {
  /** A UUID that names the attempt's effect; a repeat has none. Derived from caller and idempotency key. */
  readonly commitId: string;
  /** An opaque id of who asks. */
  readonly authid: string;
  readonly traceparent: string;
  readonly correlationid: string;
};

export type CommandRequest = { readonly headers: CommandHeaders; readonly body: Uint8Array };

/** Proto JSON both ways: the answer message, or a Rejected. */
export type CommandReply =
  | { readonly kind: "ok"; readonly body: Uint8Array }
  | { readonly kind: "rejected"; readonly body: Uint8Array }
  /** The service could not: another holder, a database away. Worth another try after this long. */
  | { readonly kind: "unavailable"; readonly detail: string; readonly retryAfterMs: number };

export type CommandHandler = (request: CommandRequest) => Promise<CommandReply>;

export type Message = { readonly subject: string; readonly body: Uint8Array };

/** The log that the events in EVENTS belong to, and the position since which they have no gap. */
export type EventsEpoch = {
  /** The id of the log's first event: no two logs share it, also one that was restored from a backup keeps it. */
  readonly log: string;
  /**
   * A UUIDv7 that is drawn again whenever the stream is filled from the log again: after a wipe, or when the log went
   * back.
   */
  readonly epoch: string;
};

/** Where an event on the live tail comes from; empty strings for what its message does not say. */
export type EventOrigin = EventsEpoch & {
  /** The id of the event one position before it. */
  readonly previousId: string;
};

/** The last message in EVENTS. */
export type LastEvent = EventsEpoch & { readonly position: number; readonly id: string };

export interface Bus extends AsyncDisposable {
  /** Whether the link to the server is up now. */
  connected(): boolean;
  /** Calls back at every change of `connected()`. */
  onConnection(callback: (connected: boolean) => void): Disposable;

  /** ty.cmd.<service>.<Command>: asks and waits until the deadline. */
  request(
    service: string,
    command: string,
    request: CommandRequest,
    deadlineMs: number,
  ): Promise<CommandReply>;

  /** Serves the commands of a service while not disposed of; replicas share the load. */
  serve(
    service: string,
    commands: Readonly<Record<string, CommandHandler>>,
  ): Promise<AsyncDisposable>;

  /** A core message; lost when nobody listens. Ids in it are encoded by the functions of `subjects.ts`. */
  publish(subject: string, body: Uint8Array): void;
  /** `*` stands for one token, `>` at the end for the rest. */
  subscribe(subject: string, callback: (message: Message) => void): Promise<AsyncDisposable>;

  /**
   * The live tail of EVENTS, from now on: positions ascend within an epoch. A reader that folds an event compares its
   * origin with the log that it follows: anybody else's relay on the same account is heard too. The callback must not
   * throw.
   */
  tailEvents(callback: (event: StoredEvent, origin: EventOrigin) => void): Promise<AsyncDisposable>;

  /**
   * The relay's side of EVENTS. Publishes a run of consecutive events in order, each with its epoch and id as the
   * message id and the message before it as the expected last; resolves when all are acknowledged. Throws a Fault
   * "relay_diverged" when another publisher came between: read `lastEvent` again.
   */
  publishEvents(events: readonly StoredEvent[], epoch?: EventsEpoch): Promise<void>;
  /** The last message in EVENTS; null for an empty (new or wiped) stream. */
  lastEvent(): Promise<LastEvent | null>;
  /** Empties EVENTS: the log went back (a restored backup), and EVENTS has events that the log does not have. */
  clearEvents(): Promise<void>;

  /** Publishes to a short-lived stream (METRICS, LOGS); never waited for, lost while the server is away. */
  publishLive(stream: "METRICS" | "LOGS", subject: string, body: Uint8Array): void;
  /** Live copies from now on. */
  tailLive(subject: string, callback: (message: Message) => void): Promise<AsyncDisposable>;
}
