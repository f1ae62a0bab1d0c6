/** Looks at all runs with an idle_timeout, with one timer for an agent. It asks no other run. */
import { type Clock, pause } from "@trainyard/kernel";
import { limits } from "../limits.ts";
import type { Telemetry } from "../telemetry.ts";
import { intervalMsOf, type RunIdle } from "./run-idle.ts";

type WatchedRun = {
  readonly allocation: string;
  readonly isRunning: boolean;
  readonly idle: Pick<RunIdle, "look" | "timeoutMs">;
};

/** Resolves when the signal aborts. */
export async function watchIdle(
  { clock, events }: { readonly clock: Clock; readonly events: Pick<Telemetry, "runFailed"> },
  runs: () => Iterable<WatchedRun>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const watched = [...runs()].filter((run) => run.isRunning && run.idle.timeoutMs !== null);
    await Promise.all(
      watched.map(({ allocation, idle }) =>
        idle.look(signal).catch((error: unknown) => events.runFailed(allocation, error)),
      ),
    );
    const waits = watched.map(({ idle }) => intervalMsOf(idle.timeoutMs ?? limits.useLookMs));
    const restMs = watched.length === 0 ? limits.useFirstLookMs : limits.useLookMs;
    await pause(clock, Math.min(restMs, ...waits), signal);
  }
}
