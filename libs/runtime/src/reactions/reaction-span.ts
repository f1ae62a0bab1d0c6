import { shortNameOf } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { noTracer, type Span, type Tracer } from "../tracing/tracer.ts";

/**
 * Begins the span of a reaction, under the append of the last event; it is linked to those of the other events. It ends
 * only if the reaction commits or fails: most reactions decide nothing.
 */
export function reactionSpan(
  tracer: Tracer = noTracer,
  events: readonly StoredEvent[],
  startMs?: number,
): Span {
  const event = events.at(-1);
  const { traceparent = "" } = event?.meta ?? {};
  if (!tracer.isOn || event === undefined) return noTracer.under("react", traceparent);
  const name = shortNameOf(event.type);
  const others = new Set(events.map(({ meta }) => meta.traceparent));
  others.delete(traceparent);
  return tracer.under(`react ${name}`, traceparent, {
    kind: "consumer",
    attributes: { "trainyard.event": name, "trainyard.position": event.position },
    links: [...others],
    ...(startMs === undefined ? {} : { startMs }),
  });
}
