import { type Clock, pause } from "@trainyard/kernel";
import { type Logger } from "@trainyard/runtime";

/** The interval at which expired idempotency keys are deleted. */
const sweepMs = 3_600_000;

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
    await pause(clock, sweepMs, signal);
  }
}
