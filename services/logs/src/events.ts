import type { Registry } from "@trainyard/runtime";
import { Counter } from "prom-client";

/** What the service tells of itself: one function per thing that happens. */
export type LogsEvents = {
  /** Lines that were acknowledged; repeats are those that had been stored before. */
  taken(stored: number, repeats: number): void;
};

export function logsEvents(registry: Registry): LogsEvents {
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
  return {
    taken(storedNow, repeatsNow) {
      stored.inc(storedNow);
      repeated.inc(repeatsNow);
    },
  };
}
