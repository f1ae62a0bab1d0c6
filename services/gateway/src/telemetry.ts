import { httpTimes, measuredGauge, type Registry } from "@trainyard/runtime";
import { Counter } from "prom-client";

export type AnsweredRequest = {
  readonly method: string;
  /** The pattern of the route, not its path: an id in a label would make a metric series for each object. */
  readonly route: string;
  readonly status: number;
};

export type Telemetry = {
  readonly answered: (request: AnsweredRequest) => void;
  /** Times the beginning of an answer that is no stream. */
  readonly timed: ReturnType<typeof httpTimes>;
};

/** Makes the telemetry. `behindMs` is the lag of the read model in milliseconds. */
export function createTelemetry(registry: Registry, behindMs: () => number): Telemetry {
  const registers = [registry];
  const answered = new Counter({
    name: "trainyard_http_requests_total",
    help: "Requests answered",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const lag = {
    name: "trainyard_read_model_lag_seconds",
    help: "Age of the log position that the read model has not reached yet",
  };
  measuredGauge(registry, lag, () => [[{}, behindMs() / 1_000]]);
  return {
    timed: httpTimes(registry),
    answered: ({ method, route, status }) =>
      answered.inc({ method, route, status: String(status) }),
  };
}
