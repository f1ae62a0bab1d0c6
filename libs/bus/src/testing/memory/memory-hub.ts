/**
 * The bus inside one process, for unit tests and simulations: a hub in place of the server, with one client per
 * service. Messages are delivered asynchronously, never within the call. Tests inject faults.
 */
import type { StoredEvent } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import {
  eventOfHeaders,
  headersOfEvent,
  originOfHeaders,
  subjectOfEvent,
  unknownOrigin,
} from "../../envelope.ts";
import { relayDiverged } from "../../faults.ts";
import type { Bus, CommandHandler, EventOrigin, EventsEpoch, Message } from "../../port.ts";
import { matchesSubject } from "../../subject-matching.ts";
import { MemoryBus } from "./memory-bus.ts";

/** One message on its way to one client. */
export type Delivery = {
  readonly kind: "message" | "event" | "request" | "reply";
  readonly subject: string;
  readonly from: string;
  readonly to: string;
};

/** The deliveries of a message; by default one copy without delay. */
export type Fate = { readonly copies?: number; readonly delayMs?: number };

export type MemoryHubOptions = {
  readonly clock?: Clock;
  readonly fate?: (delivery: Delivery) => Fate;
};

type Listener = {
  readonly client: MemoryBus;
  readonly subject: string;
  readonly receive: (message: Message) => void;
};
type EventListener = {
  readonly client: MemoryBus;
  readonly receive: (event: StoredEvent, origin: EventOrigin) => void;
};
export type MemoryServer = {
  readonly client: MemoryBus;
  readonly service: string;
  readonly commands: Readonly<Record<string, CommandHandler>>;
  inFlight: number;
};

export function createMemoryBus(options: MemoryHubOptions = {}): MemoryHub {
  return new MemoryHub(options);
}

export class MemoryHub {
  readonly clock: Clock;
  readonly #fate: (delivery: Delivery) => Fate;
  readonly #clients = new Set<MemoryBus>();
  readonly #listeners = new Set<Listener>();
  readonly #eventListeners = new Set<EventListener>();
  readonly #servers = new Set<MemoryServer>();
  readonly #storedIds = new Set<string>();
  #last: StoredEvent | null = null;
  #epoch: EventsEpoch = unknownOrigin;
  #turn = 0;
  #away = false;

  constructor(options: MemoryHubOptions) {
    this.clock = options.clock ?? systemClock;
    this.#fate = options.fate ?? (() => ({}));
  }

  /** Connects a client to this hub; clients of one name are replicas. */
  connect(name: string): Bus {
    const client = new MemoryBus(this, name, !this.#away);
    this.#clients.add(client);
    return client;
  }

  /** Disconnects the clients of a name, or all clients, until `reconnect`. */
  disconnect(name?: string): void {
    if (name === undefined) this.#away = true;
    for (const client of this.#clients) {
      if (name === undefined || client.name === name) client.setConnected(false);
    }
  }

  reconnect(name?: string): void {
    if (name === undefined) this.#away = false;
    for (const client of this.#clients) {
      if (name === undefined || client.name === name) client.setConnected(true);
    }
  }

  /** Empties EVENTS, like a deletion of the server's data folder. */
  wipe(): void {
    this.#last = null;
    this.#storedIds.clear();
  }

  get last(): StoredEvent | null {
    return this.#last;
  }

  /** The epoch of the last event. */
  get epoch(): EventsEpoch {
    return this.#epoch;
  }

  remove(client: MemoryBus): void {
    this.#clients.delete(client);
    for (const set of [this.#listeners, this.#eventListeners, this.#servers]) {
      for (const entry of set)
        if (entry.client === client) (set as Set<typeof entry>).delete(entry);
    }
  }

  listenToMessages(listener: Listener): AsyncDisposable {
    this.#listeners.add(listener);
    return { [Symbol.asyncDispose]: async () => void this.#listeners.delete(listener) };
  }

  listenToEvents(listener: EventListener): AsyncDisposable {
    this.#eventListeners.add(listener);
    return { [Symbol.asyncDispose]: async () => void this.#eventListeners.delete(listener) };
  }

  serve(server: MemoryServer): AsyncDisposable {
    this.#servers.add(server);
    return { [Symbol.asyncDispose]: async () => void this.#servers.delete(server) };
  }

  /** With `answerTo` the listeners of that subject learn that nobody listens to the message. */
  publish(from: MemoryBus, subject: string, body: Uint8Array, answerTo?: string): void {
    const isHeard = this.#send(from, { subject, body: body.slice(), isUnheard: false });
    if (isHeard || answerTo === undefined) return;
    this.#send(from, { subject: answerTo, body: new Uint8Array(), isUnheard: true });
  }

  /** Returns whether somebody listens. */
  #send(from: MemoryBus, message: Message): boolean {
    const { subject } = message;
    const listeners = [...this.#listeners].filter((one) => matchesSubject(one.subject, subject));
    for (const listener of listeners) {
      this.deliver({ kind: "message", subject, from, to: listener.client }, () => {
        if (this.#listeners.has(listener)) listener.receive(message);
      });
    }
    return listeners.length > 0;
  }

  /** Appends events behind the last one; ids that are already stored count as stored. */
  append(
    from: MemoryBus,
    events: readonly StoredEvent[],
    expectedId: string | null,
    epoch: EventsEpoch,
  ): void {
    let previousId = expectedId;
    for (const event of events) {
      if (!this.#storedIds.has(event.id)) {
        if ((this.#last?.id ?? null) !== previousId) {
          throw relayDiverged(event.position, `the last one is ${this.#last?.position ?? "gone"}`);
        }
        const follows = this.#last?.position === event.position - 1;
        const origin = { ...epoch, previousId: follows ? (previousId ?? "") : "" };
        this.#storedIds.add(event.id);
        this.#last = event;
        this.#epoch = epoch;
        this.#announce(from, event, origin);
      }
      previousId = event.id;
    }
  }

  #announce(from: MemoryBus, event: StoredEvent, origin: EventOrigin): void {
    // The event passes through headers and back, so that a test without NATS covers the conversion too.
    const headers = headersOfEvent(event, origin);
    const heard = eventOfHeaders(headers, event.body);
    const heardOrigin = originOfHeaders(headers);
    const subject = subjectOfEvent(event);
    for (const listener of [...this.#eventListeners]) {
      this.deliver({ kind: "event", subject, from, to: listener.client }, () => {
        if (this.#eventListeners.has(listener)) listener.receive(heard, heardOrigin);
      });
    }
  }

  /** Returns the next replica, round robin; undefined if none is reachable. */
  replica(service: string, command: string): MemoryServer | undefined {
    const able = [...this.#servers].filter(
      (server) =>
        server.service === service &&
        server.commands[command] !== undefined &&
        server.client.connected(),
    );
    this.#turn += 1;
    return able[this.#turn % Math.max(1, able.length)];
  }

  deliver(
    delivery: Omit<Delivery, "from" | "to"> & { from: MemoryBus; to: MemoryBus },
    arrive: () => void,
  ): void {
    const { kind, subject, from, to } = delivery;
    const { copies = 1, delayMs = 0 } = this.#fate({ kind, subject, from: from.name, to: to.name });
    const arriveIfConnected = (): void => {
      if (to.connected()) arrive();
    };
    for (let copy = 0; copy < copies; copy += 1) {
      if (delayMs > 0) this.clock.timer(delayMs, arriveIfConnected);
      else queueMicrotask(arriveIfConnected);
    }
  }
}
