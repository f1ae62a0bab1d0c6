import { type Clock, pause } from "@trainyard/kernel";
import { type Logger } from "@trainyard/runtime";
import { gatewayLimits } from "../limits.ts";

/** A table whose old rows are deleted. */
export type Swept = { readonly sweep: () => Promise<void> };

/** Deletes old rows at intervals, until the signal aborts. */
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
