/** Metrics and log lines of this service's decisions, taken from its events on the log. */
import { decodeEvent } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { categoryOf, idOf } from "@trainyard/kernel";
import type { Logger, Registry } from "@trainyard/runtime";
import { Counter } from "prom-client";

export type Telemetry = {
  /** Counts and logs an event of this service, and ignores others. After a takeover the last few may be repeated. */
  readonly count: (event: StoredEvent) => void;
};

export function createTelemetry(registry: Registry, logger: Logger): Telemetry {
  const registers = [registry];
  const changes = new Counter({
    name: "trainyard_checkpoint_gc_decisions_total",
    help: "Checkpoints by decision",
    labelNames: ["decision"],
    registers,
  });
  const bytes = new Counter({
    name: "trainyard_checkpoint_gc_deleted_bytes_total",
    help: "Bytes of deleted checkpoints, as their manifests say",
    registers,
  });
  return {
    count: (stored) => {
      if (categoryOf(stored.stream) !== "retention") return;
      const event = decodeEvent(stored);
      const checkpoint = idOf(stored.stream);
      changes.inc({ decision: event.type });
      if (event.type === "CheckpointDeleted") bytes.inc(event.data.bytes);
      const reason = event.type === "CheckpointSpared" ? { reason: event.data.reason } : {};
      logger.info({ checkpoint, event: event.type, ...reason }, "checkpoint_retention");
    },
  };
}
