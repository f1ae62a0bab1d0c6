/**
 * Sends a run's lines to the logs service, in order and one batch at a time. A batch counts once it is acknowledged;
 * sending it again changes nothing, since lines are identified by their numbers.
 */
import { randomUUID } from "node:crypto";
import type { Bus, CommandReply } from "@trainyard/bus";
import { Backoff, type Clock, pause } from "@trainyard/kernel";
import { encodeRequest, historyLost, readRejected, type Span } from "@trainyard/runtime";
import type { Telemetry } from "../telemetry.ts";
import { limits } from "../limits.ts";
import { type Batch, OutputReader } from "../state/output-reader.ts";
import type { RunFolder } from "../state/run-folder.ts";
import type { LaunchSpan } from "./launch-span.ts";
import type { WakeSignal } from "./wake-signal.ts";

export type ShipperDeps = {
  readonly agent: string;
  readonly bus: Bus;
  readonly events: Telemetry;
  readonly folder: RunFolder;
  readonly wake: WakeSignal;
  readonly clock: Clock;
  readonly launching: LaunchSpan;
};

/**
 * Resolves to true when the run is over and every line is acknowledged, or when the log has lost the run's history: the
 * lines stay in its folder. Resolves to false when the signal aborts.
 */
export async function shipLines(deps: ShipperDeps, signal: AbortSignal): Promise<boolean> {
  const { folder, wake } = deps;
  const reader = new OutputReader(folder.path);
  const backoff = new Backoff(limits.retry, deps.clock, signal);
  let linesMax: number = limits.linesPerBatch;
  let isWaiting = false;
  while (!signal.aborted) {
    // The exit is read before the file: lines precede the exit.
    const over = folder.exit !== null;
    const batch = reader.read({
      lines: linesMax,
      bytes: limits.batchBytesMax,
      lineOverheadBytes: limits.lineOverheadBytes,
    });
    if (batch.lines.length === 0) {
      if (over) return true;
      await wake.wait(limits.lookMs, signal);
      continue;
    }
    const span = firstLine(deps, batch);
    const sent = send(deps, batch, isWaiting, span?.traceparent ?? "");
    const outcome: Outcome | null = await orAborted(sent, signal);
    if (outcome === null) return false;
    if (outcome === "lost") return true;
    isWaiting = outcome !== "stored";
    if (outcome === "stored") {
      span?.end();
      reader.acknowledge(batch);
      deps.events.linesShipped(batch.lines.length);
      backoff.reset();
      linesMax = Math.min(linesMax * 2, limits.linesPerBatch);
      if (!over) await pause(deps.clock, limits.batchGapMs, signal);
    } else if (outcome === "refused" && batch.lines.length > 1) {
      linesMax = Math.max(1, Math.floor(batch.lines.length / 2));
    } else if (outcome === "refused") {
      // A line that the service refuses for good must not delay the lines after it.
      deps.events.lineRefused(folder.launch.allocation, batch.end.sequence);
      reader.acknowledge(batch);
    } else {
      await backoff.wait(outcome.retryAfterMs);
    }
  }
  return false;
}

/** Null when the signal aborts first; the next agent then gets the answer. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => resolve(null);
    if (signal.aborted) aborted();
    signal.addEventListener("abort", aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });
}

type Outcome = "stored" | "refused" | "lost" | { readonly retryAfterMs: number };

/** Begins the span of the run's first line; null for later lines, so that no trace grows with a run. */
function firstLine({ launching }: ShipperDeps, { lines }: Batch): Span | null {
  return lines[0]?.sequence === 1 ? launching.firstLine() : null;
}

async function send(
  deps: ShipperDeps,
  batch: Batch,
  isWaiting: boolean,
  traceparent: string,
): Promise<Outcome> {
  const { agent, bus, events, folder } = deps;
  const { allocation, nodeRank, experiment, token, task } = folder.launch;
  const lines = batch.lines.map((line) => ({ allocation, nodeRank, ...line }));
  const body = encodeRequest("logs", "WriteLines", { agent, lines, tokens: [token] });
  let reply: CommandReply;
  try {
    const headers = {
      commitId: randomUUID(),
      authid: `agent:${agent}`,
      traceparent,
      correlationid: task === undefined ? `experiment-${experiment}` : `task-${task.id}`,
    };
    reply = await bus.request("logs", "WriteLines", { headers, body }, limits.writeLinesMs);
  } catch (error) {
    events.linesWait(allocation, error, isWaiting);
    return { retryAfterMs: 0 };
  }
  if (reply.kind === "ok") return "stored";
  if (reply.kind === "unavailable") {
    events.linesWait(allocation, reply.detail, isWaiting);
    return { retryAfterMs: reply.retryAfterMs };
  }
  const { rejected, detail } = readRejected(reply.body);
  if (rejected === historyLost) {
    events.linesLost(allocation, detail);
    return "lost";
  }
  events.linesWait(allocation, `${rejected}: ${detail}`, isWaiting);
  // An internal error of the service passes; a refusal of the lines does not.
  return rejected === "internal" ? { retryAfterMs: 0 } : "refused";
}
