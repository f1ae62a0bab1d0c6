import type { EventData } from "@trainyard/contracts";
import { recordedTask } from "@trainyard/experiment-config/recorded";
import { limits } from "../../limits.ts";
import { afterEnd, noTries } from "../trial/tries.ts";
import type { Save, TaskEvent, TaskPlan, TaskState } from "./state.ts";

function planOf(config: unknown, kind: string): TaskPlan {
  const { resources, preemptible, maxRestarts, keepsWork } = recordedTask(config, kind);
  return { resources, preemptible, maxRestarts, keepsWork };
}

export const initialTask: TaskState = {
  status: "none",
  plan: planOf(undefined, ""),
  workspace: "",
  owner: "",
  runs: 0,
  hasStarted: false,
  unended: null,
  tries: noTries,
  countsAsRestart: false,
  saves: [],
  named: [],
  awaitedUntilMs: 0,
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
        // A run that starts from an older save than the latest leaves out the later ones for good.
        saves: state.saves.filter(({ step }) => step <= event.data.fromStep),
        named: [],
        awaitedUntilMs: 0,
      };
    }
    case "RunStarted":
      if (state.unended === null) return state;
      return {
        ...state,
        hasStarted: true,
        unended: { startedAtMs: event.data.startedAtMs ?? 0 },
      };
    case "RunEnded":
      return endRun(state, event.data);
    case "RunCheckpointsNamed": {
      const { checkpoints, awaitedUntilMs } = event.data;
      const named = checkpoints.map(({ checkpoint }) => checkpoint);
      return {
        ...state,
        named: [...new Set([...state.named, ...named])],
        awaitedUntilMs: Math.max(state.awaitedUntilMs, awaitedUntilMs),
      };
    }
    case "TaskSaved": {
      const { checkpoint, step } = event.data;
      return {
        ...state,
        saves: withSave(state.saves, { checkpoint, step }),
        named: state.named.filter((one) => one !== checkpoint),
      };
    }
    case "TaskKillRequested":
      return { ...state, kill: event.data.reason };
    case "TaskPauseRequested":
      return { ...state, pause: event.data.reason };
    case "TaskResumed": {
      const { kill: _kill, pause: _pause, fault: _fault, ...rest } = state;
      return { ...rest, status: "open", tries: noTries, countsAsRestart: false };
    }
    case "TaskEnded":
      return { ...state, status: "ended", unended: null };
    case "TaskDeleted":
      return { ...state, status: "deleted" };
    default:
      return state;
  }
}

function endRun(state: TaskState, ended: EventData<"RunEnded">): TaskState {
  const { countsAsRestart, sealed, awaitedUntilMs, fault } = ended;
  const { fault: _fault, ...rest } = state;
  return {
    ...rest,
    unended: null,
    tries: afterEnd(state.tries, ended),
    countsAsRestart,
    ...(fault === undefined ? {} : { fault }),
    named: sealed?.checkpoints.map(({ checkpoint }) => checkpoint) ?? [],
    awaitedUntilMs: awaitedUntilMs ?? 0,
  };
}

function withSave(saves: readonly Save[], saved: Save): readonly Save[] {
  const others = saves.filter(({ checkpoint }) => checkpoint !== saved.checkpoint);
  const all = [...others, saved].toSorted((one, other) => one.step - other.step);
  return all.slice(-limits.checkpointsRemembered);
}
