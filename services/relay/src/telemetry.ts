import { Counter, Gauge } from "prom-client";
import type { Logger, Registry } from "@trainyard/runtime";

/** The relay's telemetry: one function per event. */
export type Telemetry = {
  published(events: number, position: number): void;
  resumed(after: number): void;
  refilling(after: number, head: number, epoch: string): void;
  rewound(detail: string): void;
  failed(error: unknown, waitMs: number): void;
  /** Reports how far the log's time is ahead of the database's clock. */
  logAhead(aheadMs: number, isTooMuch: boolean): void;
};

export function createTelemetry(registry: Registry, logger: Logger): Telemetry {
  const registers = [registry];
  const published = new Counter({
    name: "trainyard_relay_published_events_total",
    help: "Events that the bus confirmed",
    registers,
  });
  const position = new Gauge({
    name: "trainyard_relay_position",
    help: "Log position of the last event that the bus confirmed",
    registers,
  });
  const failures = new Counter({
    name: "trainyard_relay_failures_total",
    help: "Retries after a failed read or publication",
    registers,
  });
  const rewinds = new Counter({
    name: "trainyard_relay_rewinds_total",
    help: "Times that the log was found to be behind the stream",
    registers,
  });
  const ahead = new Gauge({
    name: "trainyard_log_time_ahead_seconds",
    help: "How far the newest event's time is ahead of the database's clock",
    registers,
  });
  return {
    published(events, at) {
      published.inc(events);
      position.set(at);
    },
    resumed(after) {
      logger.info({ after }, "relay_resumed");
    },
    refilling(after, head, epoch) {
      logger.info({ after, head, epoch }, "stream_refilled_from_log");
    },
    rewound(detail) {
      rewinds.inc();
      logger.error({ detail }, "log_rewound");
    },
    failed(error, waitMs) {
      failures.inc();
      logger.warn({ err: error, waitMs }, "relay_retried");
    },
    logAhead(aheadMs, isTooMuch) {
      ahead.set(aheadMs / 1_000);
      if (isTooMuch) logger.warn({ aheadMs }, "log_time_ahead");
    },
  };
}
