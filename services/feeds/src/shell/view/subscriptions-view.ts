/** A read model of the log: the subscriptions, what filters ask of experiments and tasks, and the runs that wait. */
import { codecOf, type Plain } from "@trainyard/contracts";
import {
  type EventFilter,
  EventFilterSchema,
  type SubscriptionReader,
  SubscriptionReaderSchema,
  type WebhookSettings,
  WebhookSettingsSchema,
} from "@trainyard/contracts/events";
import type { StoredEvent } from "@trainyard/event-log";
import { type Clock, categoryOf } from "@trainyard/kernel";
import type { ExperimentFacts } from "@trainyard/outbound";
import { type Logger, View, type ViewSpec } from "@trainyard/runtime";
import type { Pool } from "pg";
import type { QueuePlace } from "../../core/queue-place.ts";
import type { NamedWebhooks } from "../../core/triggers.ts";
import { applyQueue, concernsQueue, queuedBehind, type QueuedRun } from "./queued-runs.ts";
import { changeOf, concernsRows } from "./rows.ts";

export type Subscription = {
  readonly name: string;
  readonly delivery: "pull" | "nats" | "webhook";
  /** The position of the event that created it. */
  readonly life: number;
  readonly createdAtMs: number;
  readonly after: number;
  readonly filter: Plain<EventFilter>;
  readonly webhook: Plain<WebhookSettings> | null;
  readonly reader: Plain<SubscriptionReader>;
  readonly expiresAfterMs: number | null;
  /** The reason why nothing is delivered; null if the subscription is active. */
  readonly stopped: string | null;
  readonly disabled: string | null;
};

export type Facts = ExperimentFacts & { readonly webhooks: NamedWebhooks | null };

type Row = {
  readonly name: string;
  readonly delivery: Subscription["delivery"];
  readonly life: number;
  readonly created_at_ms: number;
  readonly after: number;
  readonly filter: string;
  readonly webhook: string | null;
  readonly reader: string;
  readonly expires_after_ms: number | null;
  readonly stopped: string | null;
  readonly disabled: string | null;
};

export class SubscriptionsView {
  readonly view: View;
  readonly #pool: Pool;

  /** `onChange` is called after subscriptions have changed. */
  constructor(pool: Pool, clock: Clock, logger: Logger, onChange: () => void) {
    this.#pool = pool;
    const apply: ViewSpec["apply"] = async (client, events, table) => {
      for (const event of events.filter(concernsRows)) {
        const change = changeOf(event, table);
        if (change !== null) await client.query(change.text, change.values);
      }
      await applyQueue(client, events, table);
    };
    const after = (events: readonly StoredEvent[]): void => {
      if (events.some(({ stream }) => categoryOf(stream) === "subscription")) onChange();
    };
    const spec: ViewSpec = {
      schema: "feeds",
      view: "subscriptions",
      version: 2,
      tables: [{ name: "subscriptions" }, { name: "experiments" }, { name: "queued_runs" }],
      concerns: (event) => concernsRows(event) || concernsQueue(event),
      apply,
      after,
    };
    this.view = new View(spec, pool, clock, logger);
  }

  /** Returns the subscriptions by name, all or the named one. */
  async list(name = ""): Promise<readonly Subscription[]> {
    // PostgreSQL stores U+0000 in no text, and refuses to look for it.
    if (name.includes("\0")) return [];
    const { rows } = await this.#pool.query<Row>(
      `select * from feeds.subscriptions where $1 = '' or name = $1 order by name`,
      [name],
    );
    return rows.map(subscriptionOf);
  }

  /** Returns the next waiting runs behind a place, in the order in which they were queued. */
  queuedBehind(place: QueuePlace, limit: number): Promise<readonly QueuedRun[]> {
    return queuedBehind(this.#pool, place, limit);
  }

  /** Returns what is known of experiments and tasks, by id. */
  async facts(ids: readonly string[]): Promise<ReadonlyMap<string, Facts>> {
    if (ids.length === 0) return new Map();
    const { rows } = await this.#pool.query<
      ExperimentFacts & { readonly id: string; readonly webhooks: string | null }
    >("select id, workspace, labels, webhooks from feeds.experiments where id = any($1)", [ids]);
    return new Map(
      rows.map(({ id, workspace, labels, webhooks }) => [
        id,
        {
          workspace,
          labels,
          webhooks: webhooks === null ? null : (JSON.parse(webhooks) as NamedWebhooks),
        },
      ]),
    );
  }
}

function subscriptionOf(row: Row): Subscription {
  const { name, delivery, life, after, stopped, disabled, webhook } = row;
  return {
    ...{ name, delivery, life, after, stopped, disabled },
    createdAtMs: row.created_at_ms,
    expiresAfterMs: row.expires_after_ms,
    filter: codecOf<Plain<EventFilter>>(EventFilterSchema).decode(row.filter),
    reader: codecOf<Plain<SubscriptionReader>>(SubscriptionReaderSchema).decode(row.reader),
    webhook:
      webhook === null
        ? null
        : codecOf<Plain<WebhookSettings>>(WebhookSettingsSchema).decode(webhook),
  };
}
