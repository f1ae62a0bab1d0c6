import type { Registry } from "@trainyard/runtime";
import { Counter } from "prom-client";

/** What the service tells of itself: one function per thing that happens. */
export type Telemetry = {
  /** Lines that were acknowledged; repeats are those that had been stored before. */
  taken(stored: number, repeats: number): void;
  /** A batch that does not prove that it may write the lines of its runs. */
  unproven(): void;
};

export function createTelemetry(registry: Registry): Telemetry {
  const registers = [registry];
  const stored = new Counter({
    name: "trainyard_logs_lines_stored_total",
    help: "Lines that were stored",
    registers,
  });
  const repeated = new Counter({
    name: "trainyard_logs_lines_repeated_total",
    help: "Lines that an agent sent again and that were stored already",
    registers,
  });
  const unproven = new Counter({
    name: "trainyard_logs_batches_unproven_total",
    help: "Batches without the tokens of the runs whose lines they hold: from agents of an earlier version, or from a sender without a right to write",
    registers,
  });
  return {
    unproven: () => unproven.inc(),
    taken(storedNow, repeatsNow) {
      stored.inc(storedNow);
      repeated.inc(repeatsNow);
    },
  };
}
