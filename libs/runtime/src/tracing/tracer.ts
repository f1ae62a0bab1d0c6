/**
 * Spans of work, made by hand at the few places where a traceparent arrives or leaves. A service without `OTEL_*`
 * settings has `noTracer`: it hands each traceparent on as it is, so that the spans of other services still have their
 * parents.
 *
 * A trace's sampling flag is decided where the trace begins. Attributes are ids, counts and names of the platform: no
 * token, secret, configuration or line.
 */
import { isFault, isTraceparent } from "@trainyard/kernel";
import { continued } from "./traceparent.ts";

export type Attributes = Readonly<Record<string, string | number>>;

export type SpanFacts = {
  /** The role of the span; default: work inside of a service. */
  readonly kind?: "server" | "client" | "producer" | "consumer";
  readonly attributes?: Attributes;
  /** The traceparents of spans in other traces to which this one belongs. */
  readonly links?: readonly string[];
  /** The time at which the work began; default: now. */
  readonly startMs?: number;
};

/** The end of a span: what was thrown if the work failed, or the status of the answer that says so. */
export type Outcome = { readonly error?: unknown; readonly attributes?: Attributes };

export interface Span {
  /** Names this span as the parent of others; the parent's if nobody sends this span. */
  readonly traceparent: string;
  /** A span that never ends is not sent. */
  end(outcome?: Outcome): void;
}

export interface Tracer {
  /** Whether spans are sent. */
  readonly isOn: boolean;
  /** Begins a span under the one that a traceparent names; for any other text, the span begins a trace. */
  begin(name: string, traceparent: string, facts?: SpanFacts): Span;
  /** Begins a span under the one that a traceparent names; without one there is no span, and its name is empty. */
  under(name: string, traceparent: string, facts?: SpanFacts): Span;
}

/** Returns a span that nobody sends. */
export const untraced = (traceparent: string): Span => ({ traceparent, end: () => {} });

export const noTracer: Tracer = {
  isOn: false,
  begin: (_, traceparent) => untraced(continued(traceparent)),
  under: (_, traceparent) => untraced(isTraceparent(traceparent) ? traceparent : ""),
};

/** Does the span's work, and ends the span with it. */
export async function during<Result>(
  span: Span,
  work: () => Promise<Result>,
  attributesOf?: (result: Result) => Attributes,
): Promise<Result> {
  try {
    const result = await work();
    span.end(attributesOf === undefined ? {} : { attributes: attributesOf(result) });
    return result;
  } catch (error) {
    span.end({ error });
    throw error;
  }
}

/** Returns a status or the code of a fault, else the class of the error: messages may quote what people sent. */
export function errorType(error: unknown): string {
  if (typeof error === "number") return String(error);
  if (isFault(error)) return error.code;
  return error instanceof Error ? error.name : "error";
}
