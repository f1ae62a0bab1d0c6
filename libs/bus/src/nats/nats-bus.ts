/** The bus over NATS. Only this folder uses the NATS client. */
import type { Msg, NatsConnection, Subscription } from "@nats-io/nats-core";
import type { StoredEvent } from "@trainyard/event-log";
import type { Fault } from "@trainyard/kernel";
import { eventOfHeaders, originOfHeaders } from "../envelope.ts";
import { encodeHeaderValue } from "../headers.ts";
import { callbackThrew, messageTooLarge, notPermitted } from "../faults.ts";
import { PositionFilter } from "../position-filter.ts";
import type {
  AskingMessage,
  Bus,
  CommandHandler,
  CommandReply,
  CommandRequest,
  EventOrigin,
  EventsEpoch,
  LastEvent,
  Message,
} from "../port.ts";
import { commandSubject, inboxPrefixOf } from "../subjects.ts";
import { commandHeadersToWire, replyOf } from "./command-wire.ts";
import { EventPublisher } from "./event-publisher.ts";
import { lastPublished } from "./events-end.ts";
import { Link } from "./link.ts";
import { Replies } from "./replies.ts";
import { ServiceServer } from "./service-server.ts";
import { type StreamKey, type StreamLimits, Streams } from "./streams.ts";
import { headersOfMessage, wireHeaders } from "./wire-headers.ts";

export type NatsBusConfig = {
  /** `host:port` or `nats://host:port` of one or several servers of a cluster. */
  readonly servers: string | readonly string[];
  /** The connection's name in the server's lists, also the user and the basis of the inbox prefix. */
  readonly name: string;
  /** Absent if the server requires no login. */
  readonly password?: string;
  /** The version that the NATS services API reports to discovery tools. */
  readonly version?: string;
  /** The longest wait between two connection attempts; large groups of clients set a longer one. */
  readonly dialWaitLastMs?: number;
  readonly streams?: Partial<Record<StreamKey, StreamLimits>>;
  /** Called for errors without a caller: refusals of the server, callbacks that threw, unreadable messages. */
  readonly onProblem?: (problem: Fault) => void;
};

const decoder = new TextDecoder();

/** The status of the message that the server sends if nobody listens. */
const noListener = 503;

/** Opens a bus. An unavailable server is no error: the bus dials until it is back. */
export async function createNatsBus(config: NatsBusConfig): Promise<Bus> {
  const onProblem = config.onProblem ?? (() => {});
  const inboxPrefix = inboxPrefixOf(config.name);
  const link = await Link.open({
    servers: config.servers,
    name: config.name,
    ...(config.password === undefined ? {} : { user: config.name, password: config.password }),
    inboxPrefix,
    ...(config.dialWaitLastMs === undefined ? {} : { dialWaitLastMs: config.dialWaitLastMs }),
    onProblem,
  });
  const replies = new Replies(link, inboxPrefix);
  await link.settled();
  return new NatsBus(link, replies, config, onProblem);
}

class NatsBus implements Bus {
  readonly #link: Link;
  readonly #replies: Replies;
  readonly #streams: Streams;
  readonly #publisher: EventPublisher;
  readonly #version: string;
  readonly #onProblem: (problem: Fault) => void;

  constructor(
    link: Link,
    replies: Replies,
    config: NatsBusConfig,
    onProblem: (problem: Fault) => void,
  ) {
    this.#link = link;
    this.#replies = replies;
    this.#streams = new Streams(link, config.streams ?? {});
    this.#publisher = new EventPublisher(link, replies, this.#streams);
    this.#version = config.version ?? "0.0.0";
    this.#onProblem = onProblem;
  }

  connected(): boolean {
    return this.#link.up;
  }

  outage(): string | null {
    return this.#link.outage;
  }

  onConnection(callback: (connected: boolean) => void): Disposable {
    return this.#link.onConnection(callback);
  }

  async request(
    service: string,
    command: string,
    request: CommandRequest,
    deadlineMs: number,
  ): Promise<CommandReply> {
    const subject = commandSubject(service, command);
    const headers = commandHeadersToWire(request.headers, deadlineMs);
    return replyOf(await this.#replies.ask(subject, request.body, headers, deadlineMs), subject);
  }

  async serve(
    service: string,
    commands: Readonly<Record<string, CommandHandler>>,
  ): Promise<AsyncDisposable> {
    const server = new ServiceServer({
      service,
      version: this.#version,
      commands,
      onProblem: this.#onProblem,
    });
    const attached = await this.#attach((connection) => server.listen(connection));
    return {
      [Symbol.asyncDispose]: async () => {
        attached[Symbol.dispose]();
        await server.drain();
      },
    };
  }

  publish(subject: string, body: Uint8Array): void {
    // Without a connection a message is lost, like a message without a listener.
    if (!this.#link.up) return;
    try {
      this.#link.connection().publish(subject, body);
    } catch (error) {
      this.#onProblem(messageTooLarge(subject, body.byteLength, error));
    }
  }

  publishAsking(subject: string, { headers, body, answerTo }: AskingMessage): boolean {
    if (!this.#link.up) return false;
    const encoded = headers.map(([name, value]) => [name, encodeHeaderValue(value)] as const);
    try {
      const options = { headers: wireHeaders(encoded), reply: answerTo };
      this.#link.connection().publish(subject, body, options);
      return true;
    } catch (error) {
      this.#onProblem(messageTooLarge(subject, body.byteLength, error));
      return false;
    }
  }

  subscribe(subject: string, callback: (message: Message) => void): Promise<AsyncDisposable> {
    return this.#listen(subject, (message) => {
      const isUnheard = message.data.byteLength === 0 && message.headers?.code === noListener;
      callback({ subject: message.subject, body: message.data, isUnheard });
    });
  }

  /**
   * A plain subscription to the subjects of EVENTS: the server delivers each message as the relay publishes it. It also
   * delivers messages that JetStream refuses (the relay's repeats); these are dropped here because their position is
   * not higher.
   */
  tailEvents(
    callback: (event: StoredEvent, origin: EventOrigin) => void,
  ): Promise<AsyncDisposable> {
    const heard = new PositionFilter();
    return this.#listen("ty.event.>", (message) => {
      const headers = headersOfMessage(message);
      const event = eventOfHeaders(headers, decoder.decode(message.data));
      const origin = originOfHeaders(headers);
      if (heard.isNew(event.position, origin.epoch)) callback(event, origin);
    });
  }

  async publishEvents(events: readonly StoredEvent[], epoch?: EventsEpoch): Promise<void> {
    await this.#publisher.publish(events, epoch);
  }

  lastEvent(): Promise<LastEvent | null> {
    return this.#publisher.last();
  }

  lastPublished(): Promise<LastEvent | null> {
    return lastPublished(this.#link);
  }

  clearEvents(): Promise<void> {
    return this.#publisher.clear();
  }

  publishLive(stream: "METRICS" | "LOGS", subject: string, body: Uint8Array): void {
    // The live copy is published even before the stream exists: only reads of older copies need the stream.
    this.#streams.ensureInBackground(stream, this.#onProblem);
    this.publish(subject, body);
  }

  tailLive(subject: string, callback: (message: Message) => void): Promise<AsyncDisposable> {
    return this.subscribe(subject, callback);
  }

  async #listen(subject: string, callback: (message: Msg) => void): Promise<AsyncDisposable> {
    let subscription: Subscription | null = null;
    const attached = await this.#attach((connection) => {
      subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          if (error !== null) return;
          try {
            callback(message);
          } catch (cause) {
            // The error is caught: thrown into the client, it would stop the client's reading of the connection.
            this.#onProblem(callbackThrew(`a listener of ${subject}`, cause));
          }
        },
      });
      return [subscription];
    });
    return {
      [Symbol.asyncDispose]: async () => {
        attached[Symbol.dispose]();
        subscription?.unsubscribe();
      },
    };
  }

  /** Attaches and waits until the server has processed it; throws if the server refuses one of the subjects. */
  async #attach(
    attachment: (connection: NatsConnection) => readonly Subscription[],
  ): Promise<Disposable> {
    let subscriptions: readonly Subscription[] = [];
    const attached = this.#link.attach((connection) => {
      subscriptions = attachment(connection);
    });
    await this.#link.settled();
    // A lost connection also closes its subscriptions; the next connection attaches them again.
    if (!this.#link.up) return attached;
    const refused = subscriptions.find((subscription) => subscription.isClosed());
    if (refused === undefined) return attached;
    attached[Symbol.dispose]();
    for (const subscription of subscriptions) subscription.unsubscribe();
    throw notPermitted("subscribe to", refused.getSubject());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#replies[Symbol.dispose]();
    await this.#link[Symbol.asyncDispose]();
  }
}
