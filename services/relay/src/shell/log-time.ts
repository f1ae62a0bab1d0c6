import { pause } from "@trainyard/kernel";
import { relayLimits } from "../limits.ts";
import type { RelayDeps } from "./relay.ts";

/**
 * Reports at intervals how far the log's time is ahead of the database's clock, until the signal aborts; never throws.
 */
export async function watchLogTime(
  { log, clock, events }: Pick<RelayDeps, "log" | "clock" | "events">,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const aheadMs = await log.timeAheadMs();
      events.logAhead(aheadMs, aheadMs >= relayLimits.logAheadMs);
    } catch {
      // The relay itself logs that the log is unavailable.
    }
    await pause(clock, relayLimits.logTimeMs, signal);
  }
}
