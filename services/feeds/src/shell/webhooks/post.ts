/** Writes an event in the format of a webhook, and sends it. */
import type { Clock } from "@trainyard/kernel";
import type { LeavingEvent } from "@trainyard/outbound";
import type { Logger } from "@trainyard/runtime";
import { formatOf } from "./send/formats/formats.ts";
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
  clock,
  logger,
}: {
  readonly sender: Sender;
  readonly clock: Clock;
  readonly logger: Logger;
}): Post {
  return async (webhook, event, signal) => {
    const { url, headers, format } = webhook;
    const nowMs = clock.nowMs();
    try {
      const request = formatOf(format).requestOf(event, { secrets: secretsAt(webhook, nowMs), nowMs });
      const all = { ...headers, ...request.headers };
      const answer = await sender.send({ url, headers: all, body: request.body }, signal);
      return { ...answer, request: request.body };
    } catch (error) {
      const reason = maskerOf(webhook)(error instanceof Error ? (error.stack ?? "") : "");
      logger.error({ reason, webhook: webhook.name, event: event.stored.id }, "event_not_sent");
      const told = "the event could not be sent: the log of the service feeds has the reason";
      return { tookMs: clock.nowMs() - nowMs, error: told, answer: "", request: "" };
    }
  };
}

/** Returns the secrets that sign at a time, the newest first. */
export function secretsAt(
  { secret, oldSecret, oldUntilMs }: WebhookRow,
  nowMs: number,
): readonly string[] {
  return oldSecret !== null && nowMs < (oldUntilMs ?? 0) ? [secret, oldSecret] : [secret];
}
