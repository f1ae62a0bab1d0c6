/**
 * The runs of a trial, as far as reports depend on them, folded from the trial's stream.
 *
 * A run that starts at step s builds on earlier runs up to s and repeats the work after s. A report of an earlier run
 * therefore counts up to the smallest step that any later run started from. A stored report beyond that step is
 * superseded, and a late one is refused. A late report up to that step is accepted, for example the last reports before
 * a crash: no later run will measure them again.
 */
import type { AnyEvent, EventOf } from "@trainyard/contracts";
import { isSuperseded } from "@trainyard/kernel";

/** A run from scratch keeps nothing of earlier runs, not even a report of step 0: `keepsUpTo` is negative then. */
export type RequestedRun = { readonly run: number; readonly keepsUpTo: number };

export type RunHistory = { readonly runs: readonly RequestedRun[] };

export const noRuns: RunHistory = { runs: [] };

export function evolveRunHistory(history: RunHistory, event: AnyEvent): RunHistory {
  if (event.type !== "RunRequested") return history;
  return { runs: [...history.runs, { run: event.data.run, keepsUpTo: keepsUpTo(event.data) }] };
}

/** The last step of earlier runs that a new run does not repeat; -1 when it repeats all of them. */
export function keepsUpTo({ fromStep, fromCheckpoint }: EventOf<"RunRequested">["data"]): number {
  return fromCheckpoint === "" && fromStep === 0 ? -1 : fromStep;
}

export function isKnownRun(history: RunHistory, run: number): boolean {
  return history.runs.some((requested) => requested.run === run);
}

/** The last step at which a run's reports count: Infinity unless a later run was requested. */
export function lastStepThatCounts(history: RunHistory, run: number): number {
  let last = Number.POSITIVE_INFINITY;
  for (const later of history.runs) {
    if (isSuperseded(run, later.run)) last = Math.min(last, later.keepsUpTo);
  }
  return last;
}
