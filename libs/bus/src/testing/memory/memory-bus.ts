/** A service's client of the memory hub. */
import type { StoredEvent } from "@trainyard/event-log";
import { answer, overloaded } from "../../answering.ts";
import { assertAscending } from "../../ascending.ts";
import { unknownOrigin } from "../../envelope.ts";
import {
  busAway,
  commandFailed,
  deadlineExceeded,
  linkLost,
  messageTooLarge,
  noResponders,
} from "../../faults.ts";
import { busLimits } from "../../limits.ts";
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
  ServedCommand,
} from "../../port.ts";
import { PositionFilter } from "../../position-filter.ts";
import { commandSubject } from "../../subjects.ts";
import type { MemoryHub, MemoryServer } from "./memory-hub.ts";

export class MemoryBus implements Bus {
  readonly name: string;
  readonly #hub: MemoryHub;
  readonly #connectionCallbacks = new Set<(connected: boolean) => void>();
  readonly #requests = new Set<(fault: Error) => void>();
  #connected: boolean;
  /** The id of the event that the next one must follow; undefined until the stream's end was read. */
  #expectedId: string | null | undefined;
  #end = 0;

  constructor(hub: MemoryHub, name: string, connected: boolean) {
    this.#hub = hub;
    this.name = name;
    this.#connected = connected;
  }

  connected(): boolean {
    return this.#connected;
  }

  outage(): string | null {
    return this.#connected ? null : "the connection is cut";
  }

  onConnection(callback: (connected: boolean) => void): Disposable {
    this.#connectionCallbacks.add(callback);
    return { [Symbol.dispose]: () => void this.#connectionCallbacks.delete(callback) };
  }

  setConnected(connected: boolean): void {
    if (this.#connected === connected) return;
    this.#connected = connected;
    this.#expectedId = undefined;
    for (const callback of this.#connectionCallbacks) callback(connected);
    if (connected) return;
    for (const fail of [...this.#requests]) fail(linkLost(this.name));
  }

  async request(
    service: string,
    command: string,
    request: CommandRequest,
    deadlineMs: number,
  ): Promise<CommandReply> {
    if (!this.#connected) throw busAway();
    const hub = this.#hub;
    const subject = commandSubject(service, command);
    const bytes = request.body.byteLength;
    if (bytes > busLimits.messageBytesMax) throw messageTooLarge(subject, bytes, undefined);
    const server = hub.replica(service, command);
    const handler = server?.commands[command];
    if (server === undefined || handler === undefined) throw noResponders(subject);
    const lateMs = hub.clock.monotonicMs() + deadlineMs;
    const isLate = (): boolean => hub.clock.monotonicMs() >= lateMs;
    const sent = { headers: { ...request.headers }, body: request.body.slice(), isLate };
    return await new Promise<CommandReply>((resolve, reject) => {
      const end = (): void => {
        timer[Symbol.dispose]();
        this.#requests.delete(fail);
      };
      const fail = (fault: Error): void => {
        end();
        reject(fault);
      };
      const timer = hub.clock.timer(deadlineMs, () => fail(deadlineExceeded(subject, deadlineMs)));
      this.#requests.add(fail);
      hub.deliver({ kind: "request", subject, from: this, to: server.client }, () => {
        // The promise never rejects: a handler's error becomes an answer too.
        void answerWithin(server, handler, sent).then((answered) => {
          hub.deliver({ kind: "reply", subject, from: server.client, to: this }, () => {
            if (answered.kind === "failed") fail(commandFailed(subject));
            else {
              end();
              resolve(answered.reply);
            }
          });
        });
      });
    });
  }

  async serve(
    service: string,
    commands: Readonly<Record<string, CommandHandler>>,
  ): Promise<AsyncDisposable> {
    const server = { client: this, service, commands, inFlight: 0 };
    return this.#hub.serve(server);
  }

  publish(subject: string, body: Uint8Array): void {
    if (this.#connected) this.#hub.publish(this, subject, body);
  }

  publishAsking(subject: string, { body, answerTo }: AskingMessage): boolean {
    if (this.#connected) this.#hub.publish(this, subject, body, answerTo);
    return this.#connected;
  }

  async subscribe(subject: string, callback: (message: Message) => void): Promise<AsyncDisposable> {
    return this.#hub.listenToMessages({ client: this, subject, receive: callback });
  }

  async tailEvents(
    callback: (event: StoredEvent, origin: EventOrigin) => void,
  ): Promise<AsyncDisposable> {
    const heard = new PositionFilter();
    const receive = (event: StoredEvent, origin: EventOrigin): void => {
      if (heard.isNew(event.position, origin.epoch)) callback(event, origin);
    };
    return this.#hub.listenToEvents({ client: this, receive });
  }

  async publishEvents(
    events: readonly StoredEvent[],
    epoch: EventsEpoch = unknownOrigin,
  ): Promise<void> {
    assertAscending(events);
    if (!this.#connected) throw busAway();
    if (this.#expectedId === undefined) this.#look();
    const fresh = events.filter((event) => event.position > this.#end);
    const last = fresh.at(-1);
    if (last === undefined) return;
    try {
      this.#hub.append(this, fresh, this.#expectedId ?? null, epoch);
    } catch (error) {
      this.#expectedId = undefined;
      throw error;
    }
    this.#expectedId = last.id;
    this.#end = last.position;
  }

  async lastEvent(): Promise<LastEvent | null> {
    if (!this.#connected) throw busAway();
    this.#look();
    return this.lastPublished();
  }

  async lastPublished(): Promise<LastEvent | null> {
    if (!this.#connected) throw busAway();
    const { last } = this.#hub;
    if (last === null) return null;
    const { log, epoch } = this.#hub.epoch;
    return { position: last.position, id: last.id, log, epoch };
  }

  #look(): StoredEvent | null {
    const last = this.#hub.last;
    this.#expectedId = last?.id ?? null;
    this.#end = last?.position ?? 0;
    return last;
  }

  async clearEvents(): Promise<void> {
    if (!this.#connected) throw busAway();
    this.#hub.wipe();
    this.#expectedId = undefined;
  }

  publishLive(_stream: "METRICS" | "LOGS", subject: string, body: Uint8Array): void {
    this.publish(subject, body);
  }

  tailLive(subject: string, callback: (message: Message) => void): Promise<AsyncDisposable> {
    return this.subscribe(subject, callback);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.setConnected(false);
    this.#hub.remove(this);
  }
}

async function answerWithin(
  server: MemoryServer,
  handler: CommandHandler,
  request: ServedCommand,
): ReturnType<typeof answer> {
  if (server.inFlight >= busLimits.commandsInFlightMax) {
    return { kind: "reply", reply: overloaded(server.service) };
  }
  server.inFlight += 1;
  try {
    return await answer(server.service, handler, request);
  } finally {
    server.inFlight -= 1;
  }
}
