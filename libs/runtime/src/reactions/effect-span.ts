import type { Clock } from "@trainyard/kernel";
import { runtimeLimits } from "../limits.ts";
import type { Attributes, Span, Tracer } from "../tracing/tracer.ts";

/**
 * The span of one look of an effect loop, or of one action. It is sent only if the look named it in a commit, failed or
 * took long: most looks find nothing to do.
 */
export class EffectSpan {
  readonly #begin: () => Span;
  readonly #isOn: boolean;
  #span: Span | null = null;

  constructor(tracer: Tracer, name: string, startMs: number, attributes: Attributes = {}) {
    this.#begin = () => tracer.begin(`effect ${name}`, "", { startMs, attributes });
    this.#isOn = tracer.isOn;
  }

  /** Names the span as the parent of a commit; empty without tracing. */
  get traceparent(): string {
    if (!this.#isOn) return "";
    this.#span ??= this.#begin();
    return this.#span.traceparent;
  }

  end(tookMs: number, error?: unknown): void {
    const isLong = tookMs >= runtimeLimits.longEffectMs;
    if (this.#isOn && (isLong || error !== undefined)) this.#span ??= this.#begin();
    this.#span?.end({ error });
  }
}

/** Does the work of a look or an action, and ends its span. */
export async function duringEffect<Result>(
  { tracer, clock }: { readonly tracer: Tracer; readonly clock: Clock },
  of: { readonly name: string; readonly attributes?: Attributes },
  work: (span: EffectSpan) => Promise<Result>,
): Promise<Result> {
  const beganMs = clock.monotonicMs();
  const span = new EffectSpan(tracer, of.name, clock.nowMs(), of.attributes);
  const took = (): number => clock.monotonicMs() - beganMs;
  try {
    const result = await work(span);
    span.end(took());
    return result;
  } catch (error) {
    span.end(took(), error);
    throw error;
  }
}
