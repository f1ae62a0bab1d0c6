import type { AnyEvent, EventData } from "@trainyard/contracts";

/** The facts of a task that a launch needs, the number of its newest run and its start, and whether it has ended. */
export type TaskWork = {
  readonly kind: string;
  readonly config: NonNullable<EventData<"TaskCreated">["config"]>;
  readonly contextDigest: string;
  readonly run: number;
  /** The save that the newest run starts from; empty for none. */
  readonly fromCheckpoint: string;
  readonly fromStep: number;
  readonly ended: boolean;
};

export const initialTask: TaskWork | null = null;

export function evolveTask(state: TaskWork | null, event: AnyEvent): TaskWork | null {
  if (event.type === "TaskCreated") {
    const { kind, config = {}, contextDigest } = event.data;
    return {
      kind,
      config,
      contextDigest,
      ...{ run: 0, fromCheckpoint: "", fromStep: 0 },
      ended: false,
    };
  }
  if (state === null) return state;
  if (event.type === "RunRequested") {
    const { run, fromCheckpoint, fromStep } = event.data;
    // An ended task may be resumed.
    return { ...state, run, fromCheckpoint, fromStep, ended: false };
  }
  return event.type === "TaskEnded" ? { ...state, ended: true } : state;
}
