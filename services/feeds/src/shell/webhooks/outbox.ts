/**
 * Sends the waiting deliveries of one webhook. Each is a row, and is tried alone until it is delivered or the last try
 * has failed, so a refused event delays no later one. Some are sent at a time, so a slow answer delays few. The result
 * is recorded after the answer: a process that dies in between sends the event again, with the same id.
 */
import type { EventLog } from "@trainyard/event-log";
import { type Clock, Fault, retrying, storableText } from "@trainyard/kernel";
import { LeavingEvent } from "@trainyard/outbound";
import {
  EffectLoop,
  endsTerm,
  type LogEpoch,
  type Logger,
  noTracer,
  runtimeLimits,
  type Tracer,
} from "@trainyard/runtime";
import {
  disablingReason,
  failingWith,
  isDelivered,
  outcomeOf,
} from "../../core/deliveries/outcome.ts";
import { feedsLimits } from "../../limits.ts";
import type { Readers } from "../dispatch/readers.ts";
import type { Attempt, Delivery, DeliveryTable } from "./delivery-table.ts";
import { maskerOf } from "./masked-text.ts";
import type { Post, Posted } from "./post.ts";
import type { WebhookRow, WebhookTable } from "./webhook-table.ts";

export type OutboxDeps = {
  readonly webhooks: WebhookTable;
  readonly deliveries: DeliveryTable;
  readonly log: Pick<EventLog, "readAll">;
  readonly epoch: Pick<LogEpoch, "current">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly post: Post;
  readonly readers: Pick<Readers, "mayStillRead">;
  /** Disables a webhook, for a reason in one sentence. May be repeated. */
  readonly disable: (webhook: string, reason: string) => Promise<void>;
  /** Counts an attempt by its result. */
  readonly count: (result: "delivered" | "failed") => void;
  /** Draws a number from 0 to 1, for the spread of waits. */
  readonly draw: () => number;
  /** Begins a span for each attempt, under the append of its event. Default: attempts are no spans. */
  readonly tracer?: Tracer;
};

export class Outbox {
  readonly #name: string;
  readonly #deps: OutboxDeps;
  readonly #failed: (sentence: string | null) => void;
  readonly #loop: EffectLoop;
  /** The deliveries that are being sent, by event. */
  readonly #sending = new Map<string, Promise<void>>();
  #error: Error | null = null;

  /** `failed` receives the latest failure in one sentence; null after a success. */
  constructor(name: string, deps: OutboxDeps, failed: (sentence: string | null) => void) {
    this.#name = name;
    this.#deps = deps;
    this.#failed = failed;
    this.#loop = new EffectLoop(`webhook ${name}`, deps, (signal) => this.#step(signal));
  }

  /** Called when a delivery may be due. */
  wake(): void {
    this.#loop.wake();
  }

  /** Runs until the signal aborts. Throws errors that end the term. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#loop.run(signal);
    } finally {
      await Promise.all(this.#sending.values());
    }
  }

  /** Begins to send what is due, and returns the time until the next delivery is. */
  async #step(signal: AbortSignal): Promise<number | null> {
    const error = this.#error;
    this.#error = null;
    if (error !== null) throw error;
    const free = feedsLimits.webhookAtOnce - this.#sending.size;
    if (free <= 0) return null;
    const { webhooks, deliveries, clock } = this.#deps;
    const webhook = await webhooks.find(this.#name);
    if (webhook === undefined) return null;
    const rows = await deliveries.next(this.#name, [...this.#sending.keys()], free + 1);
    const nowMs = clock.nowMs();
    const due = rows.slice(0, free).filter(({ atMs }) => atMs <= nowMs);
    const events = await Promise.all(due.map((delivery) => this.#eventOf(delivery)));
    if (signal.aborted) return null;
    for (const [i, delivery] of due.entries()) {
      this.#begin(webhook, delivery, events[i] ?? null, signal);
    }
    const next = rows[due.length];
    return next === undefined || due.length === free ? null : Math.max(0, next.atMs - nowMs);
  }

  /** Returns the event of a delivery; null if the log no longer has it. */
  async #eventOf({ position, event: id }: Delivery): Promise<LeavingEvent | null> {
    const { log, epoch } = this.#deps;
    const [stored] = await log.readAll(position - 1, 1);
    return stored?.id === id ? new LeavingEvent(stored, await epoch.current()) : null;
  }

  #begin(
    webhook: WebhookRow,
    delivery: Delivery,
    event: LeavingEvent | null,
    signal: AbortSignal,
  ): void {
    const sending = this.#deliver(webhook, delivery, event, signal)
      .catch((error: unknown) => {
        // The next step throws it, so that the loop waits, or ends with the term.
        this.#error = error instanceof Error ? error : new Error(String(error));
      })
      .finally(() => {
        this.#sending.delete(delivery.event);
        this.#loop.wake();
      });
    this.#sending.set(delivery.event, sending);
  }

  async #deliver(
    webhook: WebhookRow,
    delivery: Delivery,
    event: LeavingEvent | null,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, count, draw } = this.#deps;
    const startMs = clock.nowMs();
    const { posted, isSent } = await this.#send(webhook, event, signal);
    // The answer is unknown, so the event is sent again.
    if (signal.aborted) return;
    const attempt = attemptOf(webhook, posted, startMs);
    const outcome = isSent ? outcomeOf(posted, delivery.failures, draw()) : failedForGood;
    const nowMs = clock.nowMs();
    const failures = delivery.failures + (outcome.state === "DELIVERED" ? 0 : 1);
    const atMs = outcome.state === "WAITING" ? nowMs + outcome.waitMs : nowMs;
    const then = { state: outcome.state, failures, atMs };
    const { deliveries } = this.#deps;
    await this.#insist(signal, () =>
      deliveries.record(webhook.name, delivery.event, attempt, then),
    );
    count(outcome.state === "DELIVERED" ? "delivered" : "failed");
    this.#failed(outcome.state === "DELIVERED" ? null : failureOf(attempt));
    if (isSent) await this.#judge(webhook, posted, nowMs, signal);
  }

  /** Sends an event that is still there and that the webhook's creator may still read. */
  async #send(webhook: WebhookRow, event: LeavingEvent | null, signal: AbortSignal) {
    if (event === null) return { posted: lost, isSent: false };
    const isReadable = await this.#deps.readers.mayStillRead(webhook.name, event);
    if (!isReadable) return { posted: hidden, isSent: false };
    return { posted: await this.#post(webhook, event, signal), isSent: true };
  }

  async #post(webhook: WebhookRow, event: LeavingEvent, signal: AbortSignal): Promise<Posted> {
    const { post, tracer = noTracer } = this.#deps;
    const { meta, position } = event.stored;
    const attributes = { "trainyard.event": event.name, "trainyard.position": position };
    const span = tracer.under("deliver", meta.traceparent, { kind: "client", attributes });
    const posted = await post(webhook, event, signal);
    const none = new Fault("no_answer", "the receiver did not answer", { retry: "later" });
    span.end(isDelivered(posted) ? {} : { error: posted.status ?? none });
    return posted;
  }

  /** Notes the success or failure at the webhook, which is disabled after too many failures. */
  async #judge(
    webhook: WebhookRow,
    posted: Posted,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { webhooks, disable } = this.#deps;
    const { name } = webhook;
    if (isDelivered(posted)) {
      if (webhook.failing !== null)
        await this.#insist(signal, () => webhooks.setFailing(name, null));
      return;
    }
    const failing = failingWith(webhook.failing, nowMs);
    const reason = disablingReason(posted, failing);
    // After a person has enabled it again, a new series of failures begins.
    const kept = reason === null ? failing : null;
    await this.#insist(signal, () => webhooks.setFailing(name, kept));
    if (reason !== null) await this.#insist(signal, () => disable(name, reason));
  }

  /** Repeats an action until it succeeds: an answer must not be forgotten while the database is away. */
  async #insist(signal: AbortSignal, act: () => Promise<void>): Promise<void> {
    const { clock, logger } = this.#deps;
    const failed = (error: unknown, waitMs: number): void => {
      if (endsTerm(error)) throw error;
      logger.warn({ err: error, webhook: this.#name, waitMs }, "delivery_not_recorded");
    };
    await retrying({ policy: runtimeLimits.effectRetry, clock, signal, failed }, act);
  }
}

const failedForGood = { state: "FAILED" } as const;

const lost: Posted = {
  tookMs: 0,
  error: "the log no longer has the event: it was restored from a backup",
  answer: "",
  request: "",
};

const hidden: Posted = {
  ...lost,
  error: "the creator of the webhook may not see the object of the event any more",
};

/** Returns what the delivery log keeps of an attempt: without the secrets of the webhook. */
export function attemptOf(webhook: WebhookRow, posted: Posted, atMs: number): Attempt {
  const { errorCharactersMax, answerKeptCharacters, requestKeptCharacters } = feedsLimits;
  const masked = maskerOf(webhook);
  const { tookMs, status, error, answer, request } = posted;
  return {
    ...{ atMs, tookMs, status: status ?? null },
    error: storableText(masked(error), errorCharactersMax),
    answer: storableText(masked(answer), answerKeptCharacters),
    request: storableText(request, requestKeptCharacters),
  };
}

function failureOf({ status, error }: Attempt): string {
  return status === null ? error : `the receiver answered ${status}`;
}
