import type { RecentEvents } from "@trainyard/outbound";
import { type Logger, LogRewound } from "@trainyard/runtime";

/** Follows the log for the streams of events, also after the log went back: their readers are then told. */
export async function keepRecent(
  recent: RecentEvents,
  logger: Logger,
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
