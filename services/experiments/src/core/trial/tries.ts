/**
 * The tries of a trial: its runs that ended without success and without a stop. Each is counted by its fault. Failures
 * of the script count against `max_restarts`. Failures of hosts and platform count if the run made no new checkpoint,
 * and `limits.lostTriesMax` of them in a row end the trial: then the run itself may be what its hosts do not survive. A
 * launch that waits for a service of this platform counts as neither. A launch on hosts that lack something for good,
 * as an image that is built on a host, counts as neither, too: it is tried once on each host. Runs whose processes
 * failed because of hosts or platform are excused `limits.excusedMax` times: more count as failures of the script, with
 * or without a checkpoint.
 *
 * After each try the next run is delayed. The delay doubles with the tries in a row, and the next run avoids their
 * agents. A new checkpoint begins a new row, and so does a run that trained for a while. A checkpoint is new if it is
 * complete and above every step that the trial has had: otherwise a run that saves its first step again and again and
 * then ends its host would be repeated without end.
 */
import type { EventData, Plain } from "@trainyard/contracts";
import { Fault, type LaunchFailure, RunEndWhy } from "@trainyard/contracts/events";
import { limits } from "../../limits.ts";

export type Tries = {
  /** The number of runs that were requested after a failure that counts against `max_restarts`. */
  readonly restarts: number;
  /** The latest failure of a started run; absent for none. */
  readonly failure?: { readonly run: number; readonly message: string };
  /** The number of runs that failed because of hosts or platform and were excused. */
  readonly excused: number;
  /** The number of tries in a row. */
  readonly row: number;
  /** The failures of hosts and platform since the latest new checkpoint. */
  readonly lost: number;
  /** The agents of the row, the latest last; at most `limits.avoidedAgentsMax`. */
  readonly agents: readonly string[];
  /** The agents whose hosts lack something for good; later runs are not placed there. */
  readonly lacking: readonly string[];
  /** Whether no agent is left that could hold the run and has what it needs. */
  readonly hasNoHost: boolean;
  /** The highest step that a run has saved or started from. */
  readonly step: number;
  /** The run that made the latest new checkpoint; 0 for none. */
  readonly advanced: number;
};

export const noTries: Tries = {
  restarts: 0,
  excused: 0,
  row: 0,
  lost: 0,
  agents: [],
  lacking: [],
  hasNoHost: false,
  step: 0,
  advanced: 0,
};

/** The delay after the first try, and the longest one. */
export type TryDelays = { readonly firstMs: number; readonly lastMs: number };

export function afterCheckpoint(
  tries: Tries,
  { run, step }: { readonly run: number; readonly step: number },
): Tries {
  return step > tries.step ? { ...tries, row: 0, lost: 0, agents: [], step, advanced: run } : tries;
}

/** Returns the tries after the end of a run. */
export function afterEnd(tries: Tries, ended: EventData<"RunEnded">): Tries {
  const { run, why, message, fault, launchFailure, triesInRow: row = 1 } = ended;
  if (fault === undefined) return tries;
  if (launchFailure?.lasting === true) return afterLack(tries, row, launchFailure);
  const isBlameless = fault !== Fault.SCRIPT && !ended.countsAsRestart;
  const counts = isBlameless && launchFailure?.platformAway !== true && tries.advanced !== run;
  const before = row === 1 ? [] : tries.agents;
  const agents = [...new Set([...before, ...(ended.avoided?.agents ?? [])])];
  const isFailure = why === RunEndWhy.FAILED || ended.countsAsRestart;
  return {
    ...tries,
    ...(isFailure ? { failure: { run, message } } : {}),
    excused: tries.excused + (isBlameless && why === RunEndWhy.FAILED ? 1 : 0),
    row,
    lost: tries.lost + (counts ? 1 : 0),
    agents: agents.slice(-limits.avoidedAgentsMax),
  };
}

/** Returns the tries in a row with this one. One on a host that lacks something for good delays the next no longer. */
export function rowAfter(before: number, launchFailure?: Plain<LaunchFailure>): number {
  return launchFailure?.lasting === true ? Math.max(before, 1) : before + 1;
}

/** Trials of a pool with more hosts than `limits.excludedAgentsMax` that lack the image try it on no further one. */
export function afterLack(
  tries: Tries,
  row: number,
  { agents, everywhere }: Plain<LaunchFailure>,
): Tries {
  const lacking = [...new Set([...tries.lacking, ...agents])];
  const hasNoHost = everywhere === true || lacking.length >= limits.excludedAgentsMax;
  return { ...tries, row, lacking, hasNoHost };
}

/** Returns "after 1 restart" or "after 2 restarts". */
export const afterRestarts = (restarts: number): string =>
  `after ${restarts} restart${restarts === 1 ? "" : "s"}`;

/** Returns why a run that hosts lack something for is not tried again. */
export function noHostText({ lacking }: Tries, what: string): string {
  return `no agent that could hold the run has what it needs (${lacking.join(", ")}); ${what}`;
}

/** Returns the delay of the next run after a try. */
export function tryDelayMs({ row }: Tries, fault: Fault, { firstMs, lastMs }: TryDelays): number {
  const unitMs = fault === Fault.PLATFORM ? firstMs * limits.platformDelayFactor : firstMs;
  // The exponent is bounded, because a delay of 0 times infinity is no number.
  return Math.min(unitMs * 2 ** Math.min(Math.max(row - 1, 0), 30), lastMs);
}
