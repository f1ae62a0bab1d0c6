/** An event that is in no log: people send it to see whether a webhook arrives. */
import type { StoredEvent } from "@trainyard/event-log";
import { serviceMeta } from "@trainyard/runtime";

export function testEvent(webhook: string, id: string, timeMs: number): StoredEvent {
  return {
    ...{ id, timeMs, position: 0, version: 0, commitId: id },
    stream: `subscription-${webhook}`,
    type: "dev.trainyard.subscription.WebhookTest.v1",
    meta: serviceMeta("feeds"),
    body: JSON.stringify({ text: "This is a test of the webhook. Nothing has happened." }),
  };
}
