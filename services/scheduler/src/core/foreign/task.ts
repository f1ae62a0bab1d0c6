import type { AnyEvent, EventData } from "@trainyard/contracts";

/** The facts of a task that a launch needs, the number of its newest run, and whether it has ended. */
export type TaskWork = {
  readonly kind: string;
  readonly config: NonNullable<EventData<"TaskCreated">["config"]>;
  readonly contextDigest: string;
  readonly run: number;
  readonly ended: boolean;
};

export const initialTask: TaskWork | null = null;

export function evolveTask(state: TaskWork | null, event: AnyEvent): TaskWork | null {
  if (event.type === "TaskCreated") {
    const { kind, config = {}, contextDigest } = event.data;
    return { kind, config, contextDigest, run: 0, ended: false };
  }
  if (state === null) return state;
  if (event.type === "RunRequested") return { ...state, run: event.data.run };
  return event.type === "TaskEnded" ? { ...state, ended: true } : state;
}
