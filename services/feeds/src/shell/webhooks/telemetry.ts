/** Metrics of deliveries to webhooks. */
import type { Registry } from "@trainyard/runtime";
import { Counter } from "prom-client";
import type { OutboxDeps } from "./outbox.ts";

export function deliveryCounter(registry: Registry): OutboxDeps["count"] {
  const attempts = new Counter({
    name: "trainyard_webhook_attempts_total",
    help: "Attempts to deliver an event to a webhook, by result",
    labelNames: ["result"],
    registers: [registry],
  });
  return (result) => attempts.inc({ result });
}
