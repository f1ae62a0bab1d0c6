/** The webhooks of one term: their room, what their commands need, and the loop that forgets old deliveries. */
import type { EventLog } from "@trainyard/event-log";
import { type Clock, isRejection } from "@trainyard/kernel";
import {
  EffectLoop,
  type Executor,
  type LogEpoch,
  type Logger,
  type Loop,
  serviceMeta,
  type Tracer,
} from "@trainyard/runtime";
import { newEventId } from "@trainyard/event-log";
import type { Pool } from "pg";
import { feedsLimits } from "../../limits.ts";
import { subscriptions } from "../../streams.ts";
import type { DeliveryRoom } from "../dispatch/delivery-room.ts";
import type { WebhookDeps } from "./commands.ts";
import { DeliveryTable } from "./delivery-table.ts";
import type { WebhookFormats } from "./format.ts";
import type { Outbox, OutboxDeps } from "./outbox.ts";
import { postWith } from "./post.ts";
import type { Sender } from "./send/sender.ts";
import { webhookRoom } from "./webhook-room.ts";
import { WebhookTable } from "./webhook-table.ts";

/** The way out of the platform. */
export type Outgoing = {
  readonly sender: Sender;
  readonly formats: WebhookFormats;
  /** Returns why events may not be sent to a URL, in one sentence; null if they may. */
  readonly checkUrl: (url: string) => string | null;
};

export type WebhooksDeps = Outgoing & {
  readonly pool: Pool;
  readonly log: EventLog;
  readonly executor: Executor;
  readonly epoch: Pick<LogEpoch, "current">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly count: OutboxDeps["count"];
  readonly readers: OutboxDeps["readers"];
  readonly tracer?: Tracer;
  readonly draw?: () => number;
  /** The most deliveries that wait for one webhook; by default the limit of the service. */
  readonly waitingMax?: number;
};

export type Webhooks = {
  readonly room: DeliveryRoom;
  readonly commands: WebhookDeps["webhook"];
  readonly loop: Loop;
};

export function openWebhooks(deps: WebhooksDeps): Webhooks {
  const { pool, clock, logger, executor, draw = Math.random } = deps;
  const deliveries = new DeliveryTable(pool);
  const disable = async (webhook: string, reason: string): Promise<void> => {
    const identity = { commitId: newEventId(), meta: serviceMeta("feeds") };
    const command = { type: "Disable", reason, by: "" } as const;
    await executor.execute(identity, async (work) => {
      const decided = await work.decide(subscriptions, webhook, command);
      return isRejection(decided) ? decided : undefined;
    });
  };
  const outboxes = new Map<string, Outbox>();
  const shared = {
    ...deps,
    ...{ deliveries, disable, draw, outboxes },
    webhooks: new WebhookTable(pool),
    post: postWith(deps),
  };
  const forgetting = new EffectLoop("old-deliveries", { clock, logger }, async (signal) => {
    const { deliveriesKeptMs, deliveriesPurgeMs } = feedsLimits;
    const beforeMs = clock.nowMs() - deliveriesKeptMs;
    while (!signal.aborted && (await deliveries.purgeEnded(beforeMs)));
    return deliveriesPurgeMs;
  });
  return {
    room: webhookRoom(shared),
    commands: { ...shared, wake: (name) => outboxes.get(name)?.wake() },
    loop: forgetting,
  };
}
