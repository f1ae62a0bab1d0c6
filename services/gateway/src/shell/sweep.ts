import { type Clock, pause } from "@trainyard/kernel";
import { type Logger } from "@trainyard/runtime";
import { gatewayLimits } from "../limits.ts";

/** A table whose rows are kept for a time. */
export type Swept = { readonly sweep: () => Promise<void> };

/** Forgets old rows now and then, until the signal aborts. */
export async function sweep(
  tables: readonly Swept[],
  clock: Clock,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    for (const table of tables) {
      await table.sweep().catch((error: unknown) => logger.warn({ err: error }, "sweep_failed"));
    }
    await pause(clock, gatewayLimits.sweepMs, signal);
  }
}
