/**
 * Decides which run of a trial or a task may write checkpoints: the newest, until it ends. Afterwards only named
 * checkpoints may complete (named at the run's end, or by an agent that returned), until a later run is requested
 * without them. Every other writer is refused.
 */
import type { AnyEvent } from "@trainyard/contracts";
import { RunEndWhy } from "@trainyard/contracts/events";
import { keepsWork, taskConfig } from "@trainyard/experiment-config/recorded";
import { isSuperseded, type Rejection, reject } from "@trainyard/kernel";
import { type Maker, makerOf, runOf } from "../maker.ts";

export type MakerRuns = {
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
  /** Whether checkpoints are stored at all: those of trials, and the saves of tasks that keep their work. */
  readonly stores: boolean;
  /** The task was deleted: its saves are deleted, too. */
  readonly deleted: boolean;
};

export type Named = { readonly checkpoint: string; readonly step: number };

export const noRuns: MakerRuns = {
  exists: false,
  newest: 0,
  ended: false,
  lost: false,
  named: [],
  latest: "",
  stores: true,
  deleted: false,
};

export function evolveRuns(state: MakerRuns, event: AnyEvent): MakerRuns {
  switch (event.type) {
    case "TrialCreated":
      return { ...state, exists: true };
    case "TaskCreated": {
      const { kind, config } = event.data;
      return { ...state, exists: true, stores: keepsWork(kind, taskConfig(config)) };
    }
    case "RunRequested": {
      const { latest, stores } = state;
      return { ...noRuns, exists: true, newest: event.data.run, latest, stores };
    }
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
    case "TaskSaved":
      return { ...state, latest: event.data.checkpoint };
    case "TrialEnded":
    case "TaskEnded":
      return { ...state, ended: true };
    case "TaskDeleted":
      return { ...state, ended: true, deleted: true };
    default:
      return state;
  }
}

/**
 * Returns null if the run may declare and complete this checkpoint. Of all refusals, only `run_unheard` may change
 * later.
 */
export function refusalOf(runs: MakerRuns, maker: Maker, checkpoint: string): Rejection | null {
  const { run } = maker;
  const name = runOf(maker);
  if (!runs.exists) {
    const kind = maker.task === undefined ? "trial" : "task";
    return reject(`${kind}_not_found`, `there is no ${kind} ${makerOf(maker)}`);
  }
  if (!runs.stores) return reject("work_not_kept", `the folder of task ${maker.task} is not saved`);
  if (run > runs.newest) return reject("run_not_found", `there is no run ${name}`);
  if (runs.deleted) return reject("task_deleted", `task ${makerOf(maker)} was deleted`);
  if (isSuperseded(run, runs.newest)) {
    const newest = runOf({ ...maker, run: runs.newest });
    return reject("run_superseded", `run ${newest} has superseded run ${name}`);
  }
  if (!runs.ended || runs.named.some((one) => one.checkpoint === checkpoint)) return null;
  if (!runs.lost) return reject("run_ended", `run ${name} has ended`);
  const detail = `run ${name} was lost, and its agent has not reported its checkpoints yet: retry later`;
  return reject("run_unheard", detail);
}

const finalRefusals: ReadonlySet<string> = new Set(["run_superseded", "run_ended", "task_deleted"]);

/** Reports whether a refusal means that this run's checkpoint can never be completed. */
export function isOver({ rejected }: Rejection): boolean {
  return finalRefusals.has(rejected);
}
