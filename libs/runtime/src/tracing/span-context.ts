import { type SpanContext, TraceFlags } from "@opentelemetry/api";
import { isTraceparent } from "@trainyard/kernel";

export const isSampledFlag = ({ traceFlags }: SpanContext): boolean =>
  (traceFlags & TraceFlags.SAMPLED) !== 0;

export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

/** Returns the span that a traceparent names; undefined for any other text. */
export function spanContextOf(traceparent: string): SpanContext | undefined {
  if (!isTraceparent(traceparent)) return undefined;
  const [, traceId = "", spanId = "", flags = ""] = traceparent.split("-");
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}
