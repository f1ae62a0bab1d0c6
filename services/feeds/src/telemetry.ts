/** Metrics of deliveries to webhooks. */
import type { Registry } from "@trainyard/runtime";
import { Counter } from "prom-client";

export type Telemetry = {
  /** Counts an attempt to deliver an event to a webhook. */
  readonly attempted: (result: "delivered" | "failed") => void;
};

export function createTelemetry(registry: Registry): Telemetry {
  const attempts = new Counter({
    name: "trainyard_webhook_attempts_total",
    help: "Attempts to deliver an event to a webhook, by result",
    labelNames: ["result"],
    registers: [registry],
  });
  return { attempted: (result) => attempts.inc({ result }) };
}
