/** The forms of webhooks' requests. A test of services/feeds compares what it sends with them. */
import type { Schema } from "./schemas.ts";

const text = (description: string): Schema => ({ type: "string", description });

const object = (properties: Schema): Schema => ({ type: "object", properties });

export const standardHeaders: Schema = object({
  "webhook-id": text("The id of the event. Attempts of one event have the same."),
  "webhook-timestamp": text("The time of the attempt, in seconds since 1970."),
  "webhook-signature": text(
    "v1, and the HMAC-SHA256 of id.timestamp.body in Base64, for each secret; separated by spaces.",
  ),
});

export const slackMessage: Schema = {
  payload: object({
    text: text("The title, for notifications."),
    blocks: { type: "array", items: { type: "object" } },
    unfurl_links: { type: "boolean" },
    unfurl_media: { type: "boolean" },
  }),
};

export const discordMessage: Schema = {
  payload: object({
    content: text("The title and some lines."),
    allowed_mentions: { type: "object" },
    flags: { type: "integer" },
  }),
};

export const determinedMessage: Schema = {
  headers: object({
    "webhook-id": text("The id of the event."),
    "x-determined-ai-signature-timestamp": text("The time of the attempt, in seconds since 1970."),
    "x-determined-ai-signature": text("The HMAC-SHA256 of timestamp,body in hexadecimal."),
  }),
  payload: object({
    event_id: text("The id of the event."),
    event_type: text("EXPERIMENT_STATE_CHANGE, TASK_LOG, CUSTOM, or the name of the event."),
    timestamp: { type: "integer", description: "In seconds since 1970." },
    condition: { type: "object" },
    event_data: { type: "object" },
  }),
};
