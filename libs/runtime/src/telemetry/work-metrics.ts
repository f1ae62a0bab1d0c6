/** Counts the appends of a process and times its decisions. */
import { shortNameOf } from "@trainyard/contracts";
import type { AppendRequest, AppendResult } from "@trainyard/event-log";
import { Counter, Histogram, type Registry } from "prom-client";

/** From a read of memory to the longest that a caller waits, in seconds. */
export const callBuckets: number[] = [0.005, 0.02, 0.1, 0.5, 2, 5];

export type WorkMetrics = {
  /** `result` is null for an append that failed: its outcome is unknown. */
  readonly appended: (request: AppendRequest, result: AppendResult | null, ms: number) => void;
  readonly answered: (command: string, ms: number) => void;
  readonly reacted: (ms: number) => void;
};

export function workMetrics(registry: Registry): WorkMetrics {
  const registers = [registry];
  const appends = new Counter({
    name: "trainyard_appends_total",
    help: "Appends to the log by result: committed, repeated, conflict, stale_fence, cursor_behind, refused, failed",
    labelNames: ["result"],
    registers,
  });
  const events = new Counter({
    name: "trainyard_appended_events_total",
    help: "Events that this process has appended",
    labelNames: ["type"],
    registers,
  });
  const seconds = new Histogram({
    name: "trainyard_append_seconds",
    help: "From an append to the database's answer, its wait for other appends included",
    buckets: callBuckets,
    registers,
  });
  const commands = new Histogram({
    name: "trainyard_command_seconds",
    help: "From a command or question on the bus to the answer",
    labelNames: ["command"],
    buckets: callBuckets,
    registers,
  });
  const reactions = new Histogram({
    name: "trainyard_reaction_seconds",
    help: "From an event to what the service decides because of it, without the append",
    buckets: callBuckets,
    registers,
  });
  return {
    appended({ writes }, result, ms) {
      seconds.observe(ms / 1_000);
      const isRepeated = result?.kind === "committed" && result.repeated;
      appends.inc({ result: isRepeated ? "repeated" : (result?.kind ?? "failed") });
      if (result?.kind !== "committed" || isRepeated) return;
      for (const { type } of writes.flatMap((write) => write.events)) {
        events.inc({ type: shortNameOf(type) });
      }
    },
    answered: (command, ms) => commands.observe({ command }, ms / 1_000),
    reacted: (ms) => reactions.observe(ms / 1_000),
  };
}
