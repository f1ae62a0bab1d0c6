import type { AnyEvent } from "@trainyard/contracts";

/** The facts of a task that decide which of its saves it needs. */
export type TaskFacts = {
  /** Whether a person deleted the task: it is never resumed. */
  readonly deleted: boolean;
  /** The save from which the task continues; empty for none. An ended task may be resumed from it. */
  readonly latest: string;
  readonly unended: { readonly run: number; readonly fromCheckpoint: string } | null;
};

export const unknownTask: TaskFacts = { deleted: false, latest: "", unended: null };

export function evolveTask(state: TaskFacts, event: AnyEvent): TaskFacts {
  switch (event.type) {
    case "RunRequested": {
      const { run, fromCheckpoint } = event.data;
      return { ...state, unended: { run, fromCheckpoint } };
    }
    case "RunEnded":
      return event.data.run === state.unended?.run ? { ...state, unended: null } : state;
    case "TaskSaved":
      return { ...state, latest: event.data.checkpoint };
    case "TaskEnded":
      return { ...state, unended: null };
    case "TaskDeleted":
      return { ...state, unended: null, deleted: true };
    default:
      return state;
  }
}
