import { recordedTask } from "@trainyard/experiment-config/recorded";
import { afterEnd, noTries } from "../trial/tries.ts";
import type { TaskEvent, TaskPlan, TaskState } from "./state.ts";

function planOf(config: unknown, kind: string): TaskPlan {
  const { resources, preemptible, maxRestarts } = recordedTask(config, kind);
  return { resources, preemptible, maxRestarts };
}

export const initialTask: TaskState = {
  status: "none",
  plan: planOf(undefined, ""),
  workspace: "",
  owner: "",
  runs: 0,
  unended: null,
  tries: noTries,
  countsAsRestart: false,
};

export function evolveTask(state: TaskState, event: TaskEvent): TaskState {
  switch (event.type) {
    case "TaskCreated": {
      const { config, kind, workspace, owner } = event.data;
      return { ...state, status: "open", plan: planOf(config, kind), workspace, owner };
    }
    case "RunRequested": {
      const { tries } = state;
      const restarts = tries.restarts + (state.countsAsRestart ? 1 : 0);
      return {
        ...state,
        runs: event.data.run,
        unended: { startedAtMs: null },
        tries: { ...tries, restarts },
        countsAsRestart: false,
      };
    }
    case "RunStarted":
      if (state.unended === null) return state;
      return { ...state, unended: { startedAtMs: event.data.startedAtMs ?? 0 } };
    case "RunEnded": {
      const tries = afterEnd(state.tries, event.data);
      return { ...state, unended: null, tries, countsAsRestart: event.data.countsAsRestart };
    }
    case "TaskKillRequested":
      return { ...state, kill: event.data.reason };
    case "TaskEnded":
      return { ...state, status: "ended", unended: null };
    case "TaskDeleted":
      return { ...state, status: "deleted" };
    default:
      return state;
  }
}
