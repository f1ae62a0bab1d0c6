/**
 * Removes the remains of forgotten runs: their model code at once, their folders by age and number. A folder with a
 * checkpoint that is not stored elsewhere is the last to go, and only on a disk that is almost full. The folder of a
 * task that could not be saved stays for a week, and any other until its last save is delivered.
 */
import { limits } from "../limits.ts";
import type { Telemetry } from "../telemetry.ts";
import { isDiskLow } from "./disk.ts";
import type { LostLaunches } from "./lost-launches.ts";
import type { Run } from "./run.ts";

type ForgottenRun = Pick<
  Run,
  "allocation" | "isDelivered" | "holdsCheckpoints" | typeof Symbol.asyncDispose
> & {
  readonly folder: Pick<
    Run["folder"],
    "path" | "key" | "keepsWork" | "forgotten" | "workEnd" | "remove" | "removeWork"
  >;
};

export type Remains = {
  readonly runs: Map<string, ForgottenRun>;
  readonly lost: Pick<LostLaunches, "cleanUp" | "notice">;
  readonly uptime: { readonly ms: number };
  readonly events: Pick<Telemetry, "givenUp" | "notRemoved" | "removed">;
  readonly isLow?: (path: string) => boolean;
};

/**
 * Removes the oldest folders first: those that are too old, and those beyond the number to keep. A folder with
 * undelivered data, or one that cannot be removed, does not count against newer ones, and is tried again in the next
 * call. Stops between two folders once the signal aborts.
 */
export async function cleanUpForgotten(
  { runs, lost, uptime, events, isLow = isDiskLow }: Remains,
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
    const mayGo = isHopeless || (isOld && isDelivered);
    // The only copy of a task's folder. The platform may still refuse an undelivered save.
    const isUnsaved = (run.folder.workEnd?.unsaved ?? "") !== "";
    if (!isHopeless && (isUnsaved || (run.folder.keepsWork && !isDelivered))) continue;
    const goes = mayGo && (!run.holdsCheckpoints || (isHopeless && isLow(run.folder.path)));
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
