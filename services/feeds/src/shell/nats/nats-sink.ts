/**
 * Delivers a subscription as core messages on `ty.feed.<subscription>`, in the binary mode of CloudEvents. Each message
 * names the subject on which it is answered. A bounded number of events waits for answers. The unanswered ones come
 * again, in order: after 30 s, and once somebody listens again.
 *
 * Each message names the last event before it that is unanswered (`Ty-Follows`). A program that lost its connection
 * leaves an event unanswered if it has not seen that one: both come again in order.
 */
import {
  type Bus,
  feedAckSubject,
  feedAckSubjects,
  feedSubject,
  positionOfAck,
} from "@trainyard/bus";
import { type Clock, pause } from "@trainyard/kernel";
import { binaryModeOf, type EventPlace, type LeavingEvent } from "@trainyard/outbound";
import { feedsLimits } from "../../limits.ts";
import type { OpenSink, Page, Sink, SinkContext } from "../dispatch/sink.ts";

/**
 * An event that waits for its answer. `before` is the place up to which everything is settled once all earlier events
 * are answered. `sentMs` is null while nobody has been given it.
 */
type Waiting = { readonly event: LeavingEvent; readonly before: EventPlace; sentMs: number | null };

type Deps = {
  readonly bus: Bus;
  readonly clock: Clock;
  /** How often the sink looks, and when an unanswered event comes again; by default the limits of the service. */
  readonly lookMs?: number;
  readonly againMs?: number;
};

const encoder = new TextEncoder();
const nobody = "no program listens to the subscription: the events wait for one";

export function openNatsSink(deps: Deps): OpenSink {
  return async (context) => {
    const sink = new NatsSink(deps, context);
    await sink.listen();
    return sink;
  };
}

class NatsSink implements Sink {
  readonly #deps: Deps;
  readonly #context: SinkContext;
  readonly #ended = new AbortController();
  /** By position, in the order of the log. */
  readonly #waiting = new Map<number, Waiting>();
  /** The place up to which everything was taken. */
  #taken: EventPlace;
  /** Whether a program listens, as far as is known. */
  #isHeard = true;
  #moved = Promise.withResolvers<void>();
  #answers: AsyncDisposable | null = null;
  #repeating: Promise<void> = Promise.resolve();

  constructor(deps: Deps, context: SinkContext) {
    this.#deps = deps;
    this.#context = context;
    this.#taken = context.from;
  }

  async listen(): Promise<void> {
    const { name, signal } = this.#context;
    signal.addEventListener("abort", () => this.#tellChange(), { once: true });
    this.#answers = await this.#deps.bus.subscribe(feedAckSubjects(name), (answer) => {
      const position = positionOfAck(answer.subject);
      if (answer.isUnheard) this.#unheard(position);
      else this.#answered(position);
    });
    this.#repeating = this.#repeat(AbortSignal.any([signal, this.#ended.signal]));
  }

  async take({ events, upTo }: Page): Promise<void> {
    const { signal } = this.#context;
    for (const event of events) {
      while (this.#waiting.size >= feedsLimits.natsWaitingMax && !signal.aborted) {
        await this.#moved.promise;
      }
      if (signal.aborted) return;
      const { position, id } = event.stored;
      this.#waiting.set(position, { event, before: this.#taken, sentMs: null });
      this.#taken = { position, event: id };
      // While nobody listens only the first one is sent, now and then.
      if (this.#isHeard) this.#send(position);
    }
    this.#taken = upTo;
    this.#settle();
  }

  #send(position: number): void {
    const { bus, clock } = this.#deps;
    const { name } = this.#context;
    const waiting = this.#waiting.get(position);
    if (waiting === undefined) return;
    const { headers, body } = binaryModeOf(waiting.event, "ce-");
    const earlier = [...this.#waiting.keys()].filter((one) => one < position).at(-1);
    const follows = earlier === undefined ? [] : [["Ty-Follows", String(earlier)] as const];
    const isSent = bus.publishAsking(feedSubject(name), {
      headers: [...headers, ...follows],
      body: encoder.encode(body),
      answerTo: feedAckSubject(name, position),
    });
    waiting.sentMs = isSent ? clock.monotonicMs() : null;
  }

  #answered(position: number): void {
    if (!this.#waiting.delete(position)) return;
    if (!this.#isHeard) this.#heard();
    this.#settle();
    this.#tellChange();
  }

  #unheard(position: number): void {
    const waiting = this.#waiting.get(position);
    if (waiting !== undefined) waiting.sentMs = null;
    if (this.#isHeard) this.#context.failed(nobody);
    this.#isHeard = false;
  }

  /** A program listens again: nobody has said that the last message was unheard. */
  #heard(): void {
    this.#isHeard = true;
    this.#context.failed(null);
    this.#sendAll();
  }

  #sendAll(): void {
    for (const position of this.#waiting.keys()) this.#send(position);
  }

  /** Everything before the first unanswered event is settled. */
  #settle(): void {
    const [first] = this.#waiting.values();
    this.#context.settled(first === undefined ? this.#taken : first.before);
  }

  /** Sends unanswered events again, all in order, so that a program sees none before an earlier one. */
  async #repeat(signal: AbortSignal): Promise<void> {
    const { clock, bus } = this.#deps;
    const { natsLookMs, natsAgainMs } = feedsLimits;
    const { lookMs = natsLookMs, againMs = natsAgainMs } = this.#deps;
    while (!signal.aborted) {
      await pause(clock, lookMs, signal);
      const [first] = this.#waiting;
      if (first === undefined || signal.aborted || !bus.connected()) continue;
      const [position, { sentMs }] = first;
      if (!this.#isHeard && sentMs === null) this.#send(position);
      else if (!this.#isHeard) this.#heard();
      else if (sentMs === null || sentMs + againMs <= clock.monotonicMs()) {
        this.#sendAll();
      }
    }
  }

  #tellChange(): void {
    this.#moved.resolve();
    this.#moved = Promise.withResolvers();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    this.#tellChange();
    await this.#repeating;
    await this.#answers?.[Symbol.asyncDispose]();
  }
}
