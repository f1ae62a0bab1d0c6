/**
 * The tries of a trial: its runs that ended without success and without a stop. Each is counted by its fault. Failures
 * of the script count against `max_restarts`. Failures of hosts and platform count if the run made no new checkpoint,
 * and `limits.lostTriesMax` of them in a row end the trial: then the run itself may be what its hosts do not survive. A
 * launch that waits for a service of this platform counts as neither.
 *
 * After each try the next run is delayed. The delay doubles with the tries in a row, and the next run avoids their
 * agents. A new checkpoint begins a new row, and so does a run that trained for a while.
 */
import type { EventData } from "@trainyard/contracts";
import { Fault, RunEndWhy } from "@trainyard/contracts/events";
import { limits } from "../../limits.ts";

export type Tries = {
  /** The number of runs that were requested after a failure that counts against `max_restarts`. */
  readonly restarts: number;
  /** The latest failure of a started run; absent for none. */
  readonly failure?: { readonly run: number; readonly message: string };
  /** The number of tries in a row. */
  readonly row: number;
  /** The failures of hosts and platform since the latest new checkpoint. */
  readonly lost: number;
  /** The agents of the row, the latest last; at most `limits.avoidedAgentsMax`. */
  readonly agents: readonly string[];
};

export const noTries: Tries = { restarts: 0, row: 0, lost: 0, agents: [] };

/** The delay after the first try, and the longest one. */
export type TryDelays = { readonly firstMs: number; readonly lastMs: number };

export function afterCheckpoint({ restarts, failure }: Tries): Tries {
  return { ...noTries, restarts, ...(failure === undefined ? {} : { failure }) };
}

/** Returns the tries after the end of a run. `advanced`: whether the run made a new checkpoint. */
export function afterEnd(tries: Tries, ended: EventData<"RunEnded">, advanced: boolean): Tries {
  const { run, why, message, fault, launchFailure, triesInRow: row = 1 } = ended;
  if (fault === undefined) return tries;
  const counts = fault !== Fault.SCRIPT && launchFailure?.platformAway !== true;
  const lost = advanced ? 0 : tries.lost + (counts ? 1 : 0);
  const before = row === 1 ? [] : tries.agents;
  const agents = [...new Set([...before, ...(ended.avoided?.agents ?? [])])];
  const isFailure = why === RunEndWhy.FAILED || ended.countsAsRestart;
  return {
    ...tries,
    ...(isFailure ? { failure: { run, message } } : {}),
    row,
    lost,
    agents: agents.slice(-limits.avoidedAgentsMax),
  };
}

/** Returns the delay of the next run after a try. */
export function tryDelayMs({ row }: Tries, fault: Fault, { firstMs, lastMs }: TryDelays): number {
  const unitMs = fault === Fault.PLATFORM ? firstMs * limits.platformDelayFactor : firstMs;
  return Math.min(unitMs * 2 ** (row - 1), lastMs);
}
