/** Which run of a trial may write: the newest, until it has ended. Everything else is a ghost's. */
import type { AnyEvent } from "@trainyard/contracts";
import { type Rejection, reject } from "@trainyard/kernel";

export type TrialRuns = {
  readonly exists: boolean;
  /** The number of the newest run; 0 for none. */
  readonly newest: number;
  readonly ended: boolean;
};

export const noRuns: TrialRuns = { exists: false, newest: 0, ended: false };

export function evolveRuns(state: TrialRuns, event: AnyEvent): TrialRuns {
  switch (event.type) {
    case "TrialCreated":
      return { ...state, exists: true };
    case "RunRequested":
      return { exists: true, newest: event.data.run, ended: false };
    case "RunEnded":
      return event.data.run === state.newest ? { ...state, ended: true } : state;
    case "TrialEnded":
      return { ...state, ended: true };
    default:
      return state;
  }
}

/** Null when the run may declare and complete checkpoints now. */
export function refusalOf(runs: TrialRuns, trial: string, run: number): Rejection | null {
  if (!runs.exists) return reject("trial_not_found", `there is no trial ${trial}`);
  if (run > runs.newest) return reject("run_not_found", `there is no run ${trial}#${run}`);
  if (run < runs.newest) {
    const detail = `run ${trial}#${runs.newest} has taken the place of run ${trial}#${run}`;
    return reject("run_superseded", detail);
  }
  return runs.ended ? reject("run_ended", `run ${trial}#${run} has ended`) : null;
}
