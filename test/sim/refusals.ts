/**
 * A log that refuses some commits as too large or malformed, from the first commit until the cause is repaired; then
 * parked events are processed again, as an operator would do.
 */
import type { Bus } from "@trainyard/bus";
import { shortNameOf } from "@trainyard/contracts";
import type { AppendRequest, AppendResult } from "@trainyard/event-log";
import type { MemoryLog } from "@trainyard/event-log/testing";
import { type Clock, categoryOf, idOf, pause } from "@trainyard/kernel";
import { decodeReply, encodeRequest } from "@trainyard/runtime";

export type Refusals = {
  /** The refused commits of the experiments: all of a category, or those that place a run. */
  readonly what: "search" | "trial" | "allocation" | "place";
  readonly experiments: "all" | readonly string[];
  /** An agent whose join is refused; empty for none. */
  readonly agent: string;
  /** The number from which trials are refused. */
  readonly fromTrial?: number;
  readonly untilMs: number;
};

/** The log's answer to a commit; null if the log accepts it. */
export function refusalOf(
  { what, experiments, agent, untilMs, fromTrial = 0 }: Refusals,
  { writes }: AppendRequest,
  nowMs: number,
): AppendResult | null {
  if (nowMs >= untilMs) return null;
  const isRefused = writes.some(({ stream, events }) => {
    const id = idOf(stream);
    if (categoryOf(stream) === "agent") return id === agent;
    const experiment = /^\d+/.exec(id)?.[0] ?? "";
    if (experiments !== "all" && !experiments.includes(experiment)) return false;
    if (Number(/\.(\d+)/.exec(id)?.[1] ?? fromTrial) < fromTrial) return false;
    if (what !== "place") return categoryOf(stream) === what;
    return events.some(({ type }) => shortNameOf(type) === "AllocationGranted");
  });
  return isRefused ? { kind: "refused", code: "body_too_large", detail: "too large" } : null;
}

const askAgainMs = 2_000;

/** Processes parked events again, until none is left. */
export async function operate(log: MemoryLog, bus: Bus, clock: Clock): Promise<void> {
  for (;;) {
    const [row] = log.store.parked(undefined);
    if (row === undefined) return;
    const { consumer, key } = row;
    const body = encodeRequest("common", "RetryParked", { consumer, key });
    const headers = { commitId: "", authid: "", traceparent: "", correlationid: "" };
    try {
      const reply = await bus.request(consumer, "RetryParked", { headers, body }, askAgainMs);
      if (reply.kind === "ok") decodeReply("common", "RetryParked", reply.body);
      else await pause(clock, askAgainMs);
    } catch {
      await pause(clock, askAgainMs);
    }
  }
}
