import type { Tracer } from "../tracing/tracer.ts";

/** Runs until the signal aborts. A loop of effects makes spans of them. */
export interface Loop {
  run(signal: AbortSignal, tracer?: Tracer): Promise<void>;
  /** Retries what is parked under a key. Resolves with the reason with which the first of it failed again, or null. */
  retryParked?(key: string): Promise<string | null>;
}
