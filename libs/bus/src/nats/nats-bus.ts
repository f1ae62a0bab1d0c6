/** The bus over NATS. All use of the NATS client is in this folder. */
import type { Msg, NatsConnection, Subscription } from "@nats-io/nats-core";
import type { StoredEvent } from "@trainyard/event-log";
import type { Fault } from "@trainyard/kernel";
import { eventOfHeaders, originOfHeaders } from "../envelope.ts";
import { callbackThrew, messageTooLarge, notPermitted } from "../faults.ts";
import { Heard } from "../heard.ts";
import type {
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
import { Link } from "./link.ts";
import { Replies } from "./replies.ts";
import { ServiceServer } from "./service-server.ts";
import { type StreamKey, type StreamLimits, Streams } from "./streams.ts";
import { headerRecordOf } from "./wire-headers.ts";

export type NatsBusConfig = {
  /** `host:port` or `nats://host:port`, one or several of a cluster. */
  readonly servers: string | readonly string[];
  /** The connection's name in the server's lists; also the user, and what its inbox is named after. */
  readonly name: string;
  /** Absent where the server asks for none. */
  readonly password?: string;
  /** Told to tools that discover the service. */
  readonly version?: string;
  /** The longest wait between two attempts to connect; longer for clients of which there are many. */
  readonly dialWaitLastMs?: number;
  readonly streams?: Partial<Record<StreamKey, StreamLimits>>;
  /** Errors without a caller: refusals of the server, callbacks that threw, unreadable messages. */
  readonly onProblem?: (problem: Fault) => void;
};

const decoder = new TextDecoder();

/** Opens a bus. A server that is away is no error: it is dialled until it is there. */
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
    const headers = commandHeadersToWire(request.headers);
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
    // A message that nobody can hear is lost, like one that nobody listens to.
    if (!this.#link.up) return;
    try {
      this.#link.connection().publish(subject, body);
    } catch (error) {
      this.#onProblem(messageTooLarge(subject, body.byteLength, error));
    }
  }

  subscribe(subject: string, callback: (message: Message) => void): Promise<AsyncDisposable> {
    return this.#listen(subject, (message) => {
      callback({ subject: message.subject, body: message.data });
    });
  }

  /**
   * A plain subscription to the subjects of EVENTS: the server hands out each message as the relay publishes it. What
   * JetStream refuses (the relay's repeats) is heard too, and left out here because its position is not a later one.
   */
  tailEvents(
    callback: (event: StoredEvent, origin: EventOrigin) => void,
  ): Promise<AsyncDisposable> {
    const heard = new Heard();
    return this.#listen("ty.event.>", (message) => {
      const headers = headerRecordOf(message);
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

  clearEvents(): Promise<void> {
    return this.#publisher.clear();
  }

  publishLive(stream: "METRICS" | "LOGS", subject: string, body: Uint8Array): void {
    // The copy goes out whether or not the stream is there yet; only looking back needs the stream.
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
            // Thrown on into the client, this would end its reading of the connection.
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

  /** Attaches and waits until the server knows of it; throws where it refuses one of the subjects. */
  async #attach(
    attachment: (connection: NatsConnection) => readonly Subscription[],
  ): Promise<Disposable> {
    let subscriptions: readonly Subscription[] = [];
    const attached = this.#link.attach((connection) => {
      subscriptions = attachment(connection);
    });
    await this.#link.settled();
    // A lost connection closes its subscriptions too; the next one attaches them again.
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
