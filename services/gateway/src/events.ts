import type { Registry } from "@trainyard/runtime";
import { Counter, Gauge } from "prom-client";

export type AnsweredRequest = {
  readonly method: string;
  /** The pattern, never the path: an id in a label would make a series of its own. */
  readonly route: string;
  readonly status: number;
};

/** Counts what was answered. */
export function createTelemetry(registry: Registry): (request: AnsweredRequest) => void {
  const answered = new Counter({
    name: "trainyard_http_requests_total",
    help: "Requests answered",
    labelNames: ["method", "route", "status"],
    registers: [registry],
  });
  return ({ method, route, status }) => answered.inc({ method, route, status: String(status) });
}

/** Shows how far the read model is behind the log. */
export function showLag(registry: Registry, behindMs: () => number): void {
  const gauge: Gauge = new Gauge({
    name: "trainyard_read_model_lag_seconds",
    help: "How long ago the log ended where the read model is not yet",
    registers: [registry],
    collect: (): void => gauge.set(behindMs() / 1000),
  });
}
