/** Metrics of subscriptions, and of what is given to their receivers. */
import type { Registry } from "@trainyard/runtime";
import { Counter } from "prom-client";

export type Telemetry = {
  /** Counts events that were given to a receiver: nats, webhook, or the name of a sink of the operator. */
  readonly handed: (to: string, events: number) => void;
  /** Counts a failure after which a receiver is asked again. */
  readonly failed: (to: string) => void;
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
  const events = new Counter({
    name: "trainyard_subscription_events_total",
    help: "Events that were given to a receiver, repeats included; pull: those that were fetched are not counted",
    labelNames: ["delivery"],
    registers: [registry],
  });
  const failures = new Counter({
    name: "trainyard_subscription_failures_total",
    help: "Failures after which a receiver is asked again",
    labelNames: ["delivery"],
    registers: [registry],
  });
  // A counter that begins at 1 has no increase for Prometheus.
  for (const result of ["delivered", "failed"]) attempts.inc({ result }, 0);
  for (const delivery of ["nats", "webhook"]) failures.inc({ delivery }, 0);
  return {
    attempted: (result) => attempts.inc({ result }),
    handed: (delivery, count) => events.inc({ delivery }, count),
    failed: (delivery) => failures.inc({ delivery }),
  };
}
