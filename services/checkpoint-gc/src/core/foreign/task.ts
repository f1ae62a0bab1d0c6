import type { AnyEvent } from "@trainyard/contracts";

/** The facts of a task that decide which of its saves it needs. */
export type TaskFacts = {
  /** Whether a person deleted the task: it is never resumed. */
  readonly deleted: boolean;
  /** The save from which the task continues; empty for none. An ended task may be resumed from it. */
  readonly latest: string;
  readonly latestStep: number;
  readonly unended: { readonly run: number; readonly fromCheckpoint: string } | null;
};

export const unknownTask: TaskFacts = {
  deleted: false,
  latest: "",
  latestStep: -1,
  unended: null,
};

export function evolveTask(state: TaskFacts, event: AnyEvent): TaskFacts {
  switch (event.type) {
    case "RunRequested": {
      const { run, fromCheckpoint, fromStep } = event.data;
      // The task continues from an earlier save: a later one is not its latest.
      const back = fromStep < state.latestStep;
      const latest = back ? { latest: fromCheckpoint, latestStep: fromStep } : {};
      return { ...state, ...latest, unended: { run, fromCheckpoint } };
    }
    case "RunEnded":
      return event.data.run === state.unended?.run ? { ...state, unended: null } : state;
    case "TaskSaved": {
      const { checkpoint, step } = event.data;
      return step < state.latestStep ? state : { ...state, latest: checkpoint, latestStep: step };
    }
    case "TaskEnded":
      return { ...state, unended: null };
    case "TaskDeleted":
      return { ...state, unended: null, deleted: true };
    default:
      return state;
  }
}
