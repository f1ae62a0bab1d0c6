import type { Registry } from "@trainyard/runtime";
import { Counter } from "prom-client";

/** The service's telemetry: one function per event. */
export type Telemetry = {
  taken(stored: number, refused: number): void;
};

export function createTelemetry(registry: Registry): Telemetry {
  const registers = [registry];
  const stored = new Counter({
    name: "trainyard_metrics_reports_acknowledged_total",
    help: "Reports that were acknowledged, repeats included",
    registers,
  });
  const refused = new Counter({
    name: "trainyard_metrics_reports_refused_total",
    help: "Reports of superseded runs that were refused",
    registers,
  });
  return {
    taken(storedNow, refusedNow) {
      stored.inc(storedNow);
      refused.inc(refusedNow);
    },
  };
}
