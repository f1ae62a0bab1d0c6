/** Writes an event in the format of a webhook, and sends it. */
import { assert, type Clock } from "@trainyard/kernel";
import type { LeavingEvent } from "@trainyard/outbound";
import type { Logger } from "@trainyard/runtime";
import type { WebhookFormat, WebhookFormats } from "./format.ts";
import type { Answer, Sender } from "./send/sender.ts";
import { maskerOf } from "./masked-text.ts";
import type { WebhookRow } from "./webhook-table.ts";

/** An answer, and the body that was sent. */
export type Posted = Pick<Answer, "tookMs" | "status" | "error" | "answer" | "retryAfterMs"> & {
  readonly request: string;
};

export type Post = (
  webhook: WebhookRow,
  event: LeavingEvent,
  signal: AbortSignal,
) => Promise<Posted>;

export function postWith({
  sender,
  formats,
  clock,
  logger,
}: {
  readonly sender: Sender;
  readonly formats: WebhookFormats;
  readonly clock: Clock;
  readonly logger: Logger;
}): Post {
  return async (webhook, event, signal) => {
    const { url, headers, format } = webhook;
    const nowMs = clock.nowMs();
    try {
      const secrets = secretsAt(webhook, nowMs);
      const request = formatNamed(formats, format).requestOf(event, { secrets, nowMs });
      const all = { ...headers, ...request.headers };
      const answer = await sender.send({ url, headers: all, body: request.body }, signal);
      return { ...answer, request: request.body };
    } catch (error) {
      if (signal.aborted) return { ...unsent, tookMs: clock.nowMs() - nowMs };
      const reason = maskerOf(webhook)(error instanceof Error ? (error.stack ?? "") : "");
      logger.error({ reason, webhook: webhook.name, event: event.stored.id }, "event_not_sent");
      return { ...unsent, tookMs: clock.nowMs() - nowMs };
    }
  };
}

const unsent = {
  error: "the event could not be sent: the log of the service feeds has the reason",
  answer: "",
  request: "",
};

/** Returns the secrets that sign at a time, the newest first. */
export function secretsAt(
  { secret, oldSecret, oldUntilMs }: WebhookRow,
  nowMs: number,
): readonly string[] {
  return oldSecret !== null && nowMs < (oldUntilMs ?? 0) ? [secret, oldSecret] : [secret];
}

/** Returns a format whose name was checked before it was stored. */
export function formatNamed(formats: WebhookFormats, name: string): WebhookFormat {
  const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
  assert(format !== undefined, `${name} is a format of webhooks`);
  return format;
}
