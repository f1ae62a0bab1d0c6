/** The latest events, for the streams that leave the platform. */
import { RecentEvents } from "@trainyard/outbound";
import { LogEpoch, LogRewound } from "@trainyard/runtime";
import type { Pool } from "pg";
import type { BackendParts } from "../backend.ts";

export function openLeaving(
  parts: Pick<BackendParts, "log" | "bus" | "clock" | "logger">,
  pool: Pool,
): Pick<BackendParts, "epoch" | "recent"> {
  const epoch = new LogEpoch(pool, parts.clock);
  return { epoch, recent: new RecentEvents({ ...parts, epoch }) };
}

/** Follows the log, also after it went back: the readers are then refused if the log lacks their place. */
export async function keepRecent(
  { recent, logger }: Pick<BackendParts, "recent" | "logger">,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await recent.run(signal);
    } catch (error) {
      if (!(error instanceof LogRewound)) throw error;
      logger.error({ err: error }, "log_rewound");
    }
  }
}
