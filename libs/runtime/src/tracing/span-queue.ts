/**
 * The spans that wait for the collector: at most a number of them, in memory. A span beyond it is dropped, as is one
 * that the collector does not take in time; both are counted. Nothing waits for the queue.
 */
import type { SpanProcessor } from "@opentelemetry/sdk-trace";
import { BatchSpanProcessor, type SpanExporter } from "@opentelemetry/sdk-trace";
import { Counter, type Registry } from "prom-client";
import type { Logger } from "../logging.ts";
import { isSampledFlag } from "./span-context.ts";
import type { TracingSettings } from "./settings.ts";

type SpanCounts = {
  readonly sent: (spans: number) => void;
  readonly dropped: (reason: "queue_full" | "not_taken", spans: number, error?: Error) => void;
};

/** Counts spans, and logs when the collector stops taking them and takes them again. */
export function spanCounts({
  registry,
  logger,
}: {
  registry: Registry;
  logger: Logger;
}): SpanCounts {
  const registers = [registry];
  const sent = new Counter({
    name: "trainyard_trace_spans_sent_total",
    help: "Spans that the collector took",
    registers,
  });
  const dropped = new Counter({
    name: "trainyard_trace_spans_dropped_total",
    help: "Spans that were not sent: the queue was full, or the collector did not take them in time",
    labelNames: ["reason"] as const,
    registers,
  });
  for (const reason of ["queue_full", "not_taken"]) dropped.inc({ reason }, 0);
  let isTaken = true;
  return {
    sent(spans) {
      sent.inc(spans);
      if (!isTaken) logger.info("traces_taken_again");
      isTaken = true;
    },
    dropped(reason, spans, error) {
      dropped.inc({ reason }, spans);
      if (isTaken && reason === "not_taken")
        logger.warn({ reason: error?.message }, "traces_not_taken");
      if (reason === "not_taken") isTaken = false;
    },
  };
}

export function spanQueue(
  exporter: SpanExporter,
  { queue }: TracingSettings,
  counts: SpanCounts,
): SpanProcessor {
  let waiting = 0;
  const counted: SpanExporter = {
    export(spans, done) {
      waiting -= spans.length;
      exporter.export(spans, (result) => {
        // 0 is success; the enum is in a package that is not a direct dependency.
        if (result.code === 0) counts.sent(spans.length);
        else counts.dropped("not_taken", spans.length, result.error);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
  const batches = new BatchSpanProcessor({
    exporter: counted,
    maxQueueSize: queue.max,
    maxExportBatchSize: queue.batchMax,
    scheduledDelayMillis: queue.delayMs,
  });
  return {
    onStart: (span, context) => batches.onStart(span, context),
    onEnd(span) {
      if (!isSampledFlag(span.spanContext())) return;
      if (waiting >= queue.max) return counts.dropped("queue_full", 1);
      waiting += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
}
