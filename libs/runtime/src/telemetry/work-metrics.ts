/** Counts the appends of a process and times its decisions. */
import { shortNameOf } from "@trainyard/contracts";
import type { AppendRequest, AppendResult } from "@trainyard/event-log";
import { Counter, Histogram, type Registry } from "prom-client";

/** From a read of memory to the longest that a caller waits, in seconds. */
export const callBuckets: number[] = [0.005, 0.02, 0.1, 0.5, 2, 5];

/** Each is called when the work begins, and returns the function to call at its end. */
export type WorkMetrics = {
  /** The result is null for an append that failed: its outcome is unknown. */
  readonly appending: (request: AppendRequest) => (result: AppendResult | null) => void;
  readonly answering: (command: string) => () => void;
  readonly reacting: () => () => void;
};

/** A counter that begins at 1 has no increase for Prometheus, so each begins at 0. */
const results = [
  "committed",
  "repeated",
  "conflict",
  "stale_fence",
  "cursor_behind",
  "refused",
  "failed",
];

export function workMetrics(registry: Registry): WorkMetrics {
  const registers = [registry];
  const appends = new Counter({
    name: "trainyard_appends_total",
    help: `Appends to the log by result: ${results.join(", ")}`,
    labelNames: ["result"],
    registers,
  });
  for (const result of results) appends.inc({ result }, 0);
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
    appending: ({ writes }) => {
      const end = seconds.startTimer();
      return (result) => {
        end();
        count(writes, result);
      };
    },
    answering: (command) => commands.startTimer({ command }),
    reacting: () => reactions.startTimer(),
  };

  function count(writes: AppendRequest["writes"], result: AppendResult | null): void {
    const isRepeated = result?.kind === "committed" && result.repeated;
    appends.inc({ result: isRepeated ? "repeated" : (result?.kind ?? "failed") });
    if (result?.kind !== "committed" || isRepeated) return;
    for (const { type } of writes.flatMap((write) => write.events)) {
      events.inc({ type: shortNameOf(type) });
    }
  }
}
