import { type Clock, pause } from "@trainyard/kernel";
import { type Logger } from "@trainyard/runtime";
import type { IdempotencyStore } from "../http/idempotency.ts";
import { gatewayLimits } from "../limits.ts";

/** Forgets old answers now and then, until the signal aborts. */
export async function sweepIdempotency(
  store: IdempotencyStore,
  clock: Clock,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await store.sweep().catch((error: unknown) => logger.warn({ err: error }, "sweep_failed"));
    await pause(clock, gatewayLimits.sweepMs, signal);
  }
}
