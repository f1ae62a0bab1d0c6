/**
 * Decides which run of a trial may write checkpoints: the newest, until it ends. Afterwards only named checkpoints may
 * complete (named at the run's end, or by an agent that returned), until a later run is requested without them. Every
 * other writer is refused.
 */
import type { AnyEvent } from "@trainyard/contracts";
import { RunEndWhy } from "@trainyard/contracts/events";
import { isSuperseded, type Rejection, reject } from "@trainyard/kernel";

export type TrialRuns = {
  readonly exists: boolean;
  /** The number of the newest run; 0 for none. */
  readonly newest: number;
  readonly ended: boolean;
  /** The newest run was lost, so its agent may still return and name its checkpoints. */
  readonly lost: boolean;
  /** Checkpoints of the newest run that may complete after its end. */
  readonly named: readonly Named[];
  /** The checkpoint of any run that was completed last; empty for none. */
  readonly latest: string;
};

export type Named = { readonly checkpoint: string; readonly step: number };

export const noRuns: TrialRuns = {
  exists: false,
  newest: 0,
  ended: false,
  lost: false,
  named: [],
  latest: "",
};

export function evolveRuns(state: TrialRuns, event: AnyEvent): TrialRuns {
  switch (event.type) {
    case "TrialCreated":
      return { ...state, exists: true };
    case "RunRequested":
      return { ...noRuns, exists: true, newest: event.data.run, latest: state.latest };
    case "RunEnded": {
      const { run, why, sealed } = event.data;
      if (run !== state.newest) return state;
      const named = [...state.named, ...(sealed?.checkpoints ?? [])];
      return { ...state, ended: true, lost: why === RunEndWhy.LOST, named };
    }
    case "RunCheckpointsNamed": {
      const { run, checkpoints } = event.data;
      return run === state.newest ? { ...state, named: [...state.named, ...checkpoints] } : state;
    }
    case "TrialCheckpointed":
      return { ...state, latest: event.data.checkpoint };
    case "TrialEnded":
      return { ...state, ended: true };
    default:
      return state;
  }
}

/**
 * Returns null if the run may declare and complete this checkpoint. Of all refusals, only `run_unheard` may change
 * later.
 */
export function refusalOf(
  runs: TrialRuns,
  trial: string,
  run: number,
  checkpoint: string,
): Rejection | null {
  if (!runs.exists) return reject("trial_not_found", `there is no trial ${trial}`);
  if (run > runs.newest) return reject("run_not_found", `there is no run ${trial}#${run}`);
  if (isSuperseded(run, runs.newest)) {
    const detail = `run ${trial}#${runs.newest} has superseded run ${trial}#${run}`;
    return reject("run_superseded", detail);
  }
  if (!runs.ended || runs.named.some((one) => one.checkpoint === checkpoint)) return null;
  if (!runs.lost) return reject("run_ended", `run ${trial}#${run} has ended`);
  const detail = `run ${trial}#${run} was lost, and its agent has not reported its checkpoints yet: retry later`;
  return reject("run_unheard", detail);
}

/** Reports whether a refusal means that this run's checkpoint can never be completed. */
export function isOver({ rejected }: Rejection): boolean {
  return rejected === "run_superseded" || rejected === "run_ended";
}
