/** The changes of the view's rows by an event. They are idempotent: a replay in order ends in the same rows. */
import { codecOf, decodeEvent, shortNameOf } from "@trainyard/contracts";
import {
  EventFilterSchema,
  SubscriptionDelivery,
  SubscriptionReaderSchema,
  WebhookSettingsSchema,
} from "@trainyard/contracts/events";
import type { EventData } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { recordedWebhooks } from "@trainyard/experiment-config/recorded";
import { idOf } from "@trainyard/kernel";
import type { TableNames } from "@trainyard/runtime";

export type Change = { readonly text: string; readonly values: unknown[] };

/** The word of each delivery. */
const deliveryWords: Readonly<Record<number, string>> = {
  [SubscriptionDelivery.PULL]: "pull",
  [SubscriptionDelivery.NATS]: "nats",
  [SubscriptionDelivery.WEBHOOK]: "webhook",
};

/**
 * The events that change rows. A deleted experiment keeps its row: its last events, and the deletion itself, may still
 * have to be delivered.
 */
const concerning: ReadonlySet<string> = new Set([
  "SubscriptionCreated",
  "SubscriptionChanged",
  "SubscriptionStopped",
  "SubscriptionAdopted",
  "SubscriptionDisabled",
  "SubscriptionEnabled",
  "SubscriptionDeleted",
  "ExperimentCreated",
  "ExperimentDescribed",
  "ExperimentMoved",
  "TaskCreated",
]);

export const concernsRows = ({ type }: StoredEvent): boolean => concerning.has(shortNameOf(type));

export function changeOf(stored: StoredEvent, table: TableNames): Change | null {
  const event = decodeEvent(stored);
  const id = idOf(stored.stream);
  const set = (column: string, value: unknown): Change => ({
    text: `update ${table("subscriptions")} set ${column} = $2 where name = $1`,
    values: [id, value],
  });
  switch (event.type) {
    case "SubscriptionCreated":
      return created(stored, event.data, table);
    case "SubscriptionChanged": {
      const { filter, expiresAfterMs, webhook } = settingsOf(event.data);
      return {
        text: `update ${table("subscriptions")}
               set filter = $2, expires_after_ms = $3, webhook = $4 where name = $1`,
        values: [id, filter, expiresAfterMs, webhook],
      };
    }
    case "SubscriptionStopped":
      return set("stopped", event.data.reason);
    case "SubscriptionAdopted": {
      const reader = readerText(event.data.reader);
      return {
        text: `update ${table("subscriptions")} set reader = $2, stopped = null where name = $1`,
        values: [id, reader],
      };
    }
    case "SubscriptionDisabled":
      return set("disabled", event.data.reason);
    case "SubscriptionEnabled":
      return set("disabled", null);
    case "SubscriptionDeleted":
      return { text: `delete from ${table("subscriptions")} where name = $1`, values: [id] };
    case "ExperimentCreated": {
      const { workspace, labels, config } = event.data;
      return known(table, id, { workspace, labels, webhooks: webhooksOf(config) });
    }
    case "TaskCreated":
      return known(table, id, { workspace: event.data.workspace, labels: [], webhooks: null });
    case "ExperimentDescribed":
      return {
        text: `update ${table("experiments")} set labels = $2 where id = $1`,
        values: [id, event.data.labels],
      };
    case "ExperimentMoved":
      return {
        text: `update ${table("experiments")} set workspace = $2 where id = $1`,
        values: [id, event.data.workspace],
      };
    default:
      return null;
  }
}

function created(
  { stream, position, timeMs }: StoredEvent,
  data: EventData<"SubscriptionCreated">,
  table: TableNames,
): Change {
  const { filter, expiresAfterMs, webhook } = settingsOf(data);
  return {
    text: `insert into ${table("subscriptions")}
           (name, delivery, life, created_at_ms, after, filter, webhook, reader, expires_after_ms)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
    values: [
      idOf(stream),
      deliveryWords[data.delivery],
      position,
      timeMs,
      data.after,
      filter,
      webhook,
      readerText(data.reader),
      expiresAfterMs,
    ],
  };
}

function settingsOf({
  filter,
  webhook,
  expiresAfterMs,
}: Pick<EventData<"SubscriptionCreated">, "filter" | "webhook" | "expiresAfterMs">) {
  return {
    filter: filter === undefined ? "{}" : codecOf(EventFilterSchema).encode(filter),
    webhook: webhook === undefined ? null : codecOf(WebhookSettingsSchema).encode(webhook),
    expiresAfterMs: expiresAfterMs ?? null,
  };
}

const readerText = (reader: EventData<"SubscriptionCreated">["reader"]): string =>
  reader === undefined ? "{}" : codecOf(SubscriptionReaderSchema).encode(reader);

type Known = {
  readonly workspace: string;
  readonly labels: readonly string[];
  readonly webhooks: string | null;
};

function known(table: TableNames, id: string, { workspace, labels, webhooks }: Known): Change {
  return {
    text: `insert into ${table("experiments")} (id, workspace, labels, webhooks)
           values ($1, $2, $3, $4) on conflict do nothing`,
    values: [id, workspace, labels, webhooks],
  };
}

/** Returns the webhooks that a configuration names or leaves out, as JSON; null if it says nothing. */
function webhooksOf(config: EventData<"ExperimentCreated">["config"]): string | null {
  const webhooks = recordedWebhooks(config);
  return webhooks === null ? null : JSON.stringify(webhooks);
}
