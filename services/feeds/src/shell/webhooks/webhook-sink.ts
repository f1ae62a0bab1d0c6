/**
 * Stores the events of a webhook as deliveries, and sends them. An event need not come again once it is a row. While
 * too many rows wait, the position of the webhook waits, too.
 */
import { pause } from "@trainyard/kernel";
import type { LeavingEvent } from "@trainyard/outbound";
import { firstAbort } from "@trainyard/runtime";
import { feedsLimits } from "../../limits.ts";
import type { OpenSink, Page, SinkContext } from "../dispatch/sink.ts";
import { Outbox, type OutboxDeps } from "./outbox.ts";

export type WebhookSinkDeps = OutboxDeps & {
  /** The outboxes of the open sinks, by webhook. */
  readonly outboxes: Map<string, Outbox>;
  /** The most deliveries that wait for one webhook; by default the limit of the service. */
  readonly waitingMax?: number;
};

export function openWebhookSink(deps: WebhookSinkDeps): OpenSink {
  return async (context) => {
    const stop = new AbortController();
    const signal = firstAbort(context.signal, stop.signal);
    const outbox = new Outbox(context.name, deps, context.failed);
    deps.outboxes.set(context.name, outbox);
    let failure: Error | null = null;
    const running = outbox.run(signal).catch((error: unknown) => {
      failure = error instanceof Error ? error : new Error(String(error));
    });
    return {
      take: async (page) => {
        if (failure !== null) throw failure;
        await store(page, { ...deps, context, outbox, signal });
      },
      [Symbol.asyncDispose]: async () => {
        stop.abort();
        await running;
        deps.outboxes.delete(context.name);
      },
    };
  };
}

type Storing = WebhookSinkDeps & {
  readonly context: SinkContext;
  readonly outbox: Outbox;
  readonly signal: AbortSignal;
};

/** Stores the events of a page as far as there is room, and waits for the rest. */
async function store({ events, upTo }: Page, storing: Storing): Promise<void> {
  const { context, outbox, deliveries, clock, signal } = storing;
  const { webhookWaitingMax, webhookRoomLookMs } = feedsLimits;
  const { waitingMax = webhookWaitingMax } = storing;
  for (let at = 0; at < events.length; ) {
    const room = waitingMax - (await deliveries.waiting(context.name, waitingMax));
    if (room <= 0) await pause(clock, webhookRoomLookMs, signal);
    if (signal.aborted) return;
    const some = events.slice(at, at + Math.max(0, room));
    const last = some.at(-1);
    if (last === undefined) continue;
    await deliveries.insert(context.name, some, clock.nowMs());
    outbox.wake();
    context.settled(placeOf(last));
    at += some.length;
  }
  context.settled(upTo);
}

const placeOf = ({ stored }: LeavingEvent) => ({ position: stored.position, event: stored.id });
