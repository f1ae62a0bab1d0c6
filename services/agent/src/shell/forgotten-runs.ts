/** Removes the remains of forgotten runs: their model code at once, their folders by age and number. */
import { limits } from "../limits.ts";
import type { Uptime } from "../state/uptime.ts";
import type { Telemetry } from "../telemetry.ts";
import type { LostLaunches } from "./lost-launches.ts";
import type { Run } from "./run.ts";

export type Remains = {
  readonly runs: Map<string, Run>;
  readonly lost: LostLaunches;
  readonly uptime: Uptime;
  readonly events: Telemetry;
};

/**
 * Removes the oldest folders first: those that are too old, and those beyond the number to keep. A folder with
 * undelivered data, or one that cannot be removed, does not count against newer ones, and is tried again in the next
 * call. Stops between two folders once the signal aborts.
 */
export async function cleanUpForgotten(
  { runs, lost, uptime, events }: Remains,
  signal: AbortSignal,
): Promise<void> {
  const nowMs = uptime.ms;
  const forgotten = [...runs.values()]
    .flatMap((run) => {
      const { forgotten: record } = run.folder;
      return record === null ? [] : [{ run, atMs: record.upMs, isDelivered: run.isDelivered }];
    })
    .toSorted((a, b) => a.atMs - b.atMs);
  const beyond = forgotten.length - limits.keptRunsMax;
  for (const [index, { run, atMs, isDelivered }] of forgotten.entries()) {
    if (signal.aborted) return;
    const isOld = index < beyond || nowMs - atMs > limits.keptRunsMs;
    const isHopeless = nowMs - atMs > limits.undeliveredMs;
    const goes = isHopeless || (isOld && isDelivered);
    if (goes) {
      if (!isDelivered) events.givenUp(run.allocation);
      await run[Symbol.asyncDispose]();
    }
    try {
      await (goes ? run.folder.remove() : run.folder.removeWork());
    } catch (error) {
      events.notRemoved(run.allocation, error);
      continue;
    }
    if (!goes) continue;
    runs.delete(run.folder.key);
    events.removed(run.allocation);
  }
  await lost.cleanUp(signal);
}
