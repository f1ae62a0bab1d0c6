import { StopMode, StopWhy } from "@trainyard/contracts/events";
import { assertNever, type Decider, type Rejection, reject } from "@trainyard/kernel";
import { limits } from "../../limits.ts";
import { tryDelayMs } from "../trial/tries.ts";
import type { EndTaskRun, TaskCommand } from "./commands.ts";
import { afterRun } from "./end.ts";
import { evolveTask, initialTask } from "./evolve.ts";
import type { TaskEvent, TaskState } from "./state.ts";

type Decision = readonly TaskEvent[] | Rejection;

const alreadySo: Decision = [];
const notFound = reject("task_not_found", "the task does not exist or was deleted");

export function decideTask(state: TaskState, command: TaskCommand): Decision {
  switch (command.kind) {
    case "create": {
      if (state.status !== "none") return alreadySo;
      const created: TaskEvent = { type: "TaskCreated", data: command.created };
      return [created, runRequested(evolveTask(state, created), 0)];
    }
    case "start_run": {
      const { run, allocation, atMs: startedAtMs } = command;
      if (!isUnended(state, run) || state.unended?.startedAtMs !== null) return alreadySo;
      return [{ type: "RunStarted", data: { run, allocation, startedAtMs } }];
    }
    case "end_run":
      return isUnended(state, command.run) ? endRun(state, command) : alreadySo;
    case "kill":
      return kill(state, command.reason);
    case "pause":
    case "resume":
      return reject("not_kept", "the folder of this task is not saved");
    case "delete":
      if (state.status === "none") return notFound;
      if (state.status === "deleted") return alreadySo;
      if (state.status === "ended") return [{ type: "TaskDeleted", data: {} }];
      return reject("task_not_ended", "the task has not ended: kill it first");
    default:
      return assertNever(command, "a task's command");
  }
}

/** Whether `run` is the unended run. Reports about an earlier run are stale. */
function isUnended(state: TaskState, run: number): boolean {
  return state.unended !== null && state.runs === run;
}

function kill(state: TaskState, asked: string): Decision {
  if (state.status === "none" || state.status === "deleted") return notFound;
  if (state.status === "ended" || state.kill !== undefined) return alreadySo;
  const reason = asked.slice(0, limits.messageCharsMax);
  const stop = { run: state.runs, mode: StopMode.KILL, why: StopWhy.KILL, graceMs: 0 };
  return [
    { type: "TaskKillRequested", data: { reason } },
    { type: "RunStopRequested", data: stop },
  ];
}

function runRequested(state: TaskState, delayMs: number): TaskEvent {
  const { plan, workspace, owner, tries } = state;
  return {
    type: "RunRequested",
    data: {
      run: state.runs + 1,
      fromCheckpoint: "",
      fromStep: 0,
      resources: plan.resources,
      preemptible: plan.preemptible,
      experiment: "",
      delayMs,
      ...(tries.agents.length === 0 ? {} : { avoided: { agents: tries.agents } }),
      workspace,
      owner,
    },
  };
}

function endRun(state: TaskState, command: EndTaskRun): Decision {
  const { run, why, exits, message, fault, agents, launchFailure, delays } = command;
  const row = fault === undefined ? 0 : rowBefore(state, command.atMs) + 1;
  const after = afterRun(state, command, row);
  const ended: TaskEvent = {
    type: "RunEnded",
    data: {
      run,
      why,
      exits: exits.map((exit) => ({ ...exit, message: cut(exit.message) })),
      message: cut(message),
      countsAsRestart: after.next === "run" && after.countsAsRestart,
      ...(fault === undefined ? {} : { fault, triesInRow: row }),
      ...(fault === undefined || agents.length === 0 ? {} : { avoided: { agents } }),
      ...(launchFailure === undefined ? {} : { launchFailure }),
    },
  };
  const next = evolveTask(state, ended);
  if (after.next === "run") {
    const delayMs = fault === undefined ? 0 : tryDelayMs(next.tries, fault, delays);
    return [ended, runRequested(next, delayMs)];
  }
  const exitCode = exits.find(({ nodeRank }) => nodeRank === 0)?.code;
  const data = {
    outcome: after.outcome,
    reason: cut(after.reason),
    ...(exitCode === undefined ? {} : { exitCode }),
    restarts: next.tries.restarts,
  };
  return [ended, { type: "TaskEnded", data }];
}

/** Returns the failures in a row before this end: a run that was up for a while begins a new row. */
function rowBefore({ unended, tries }: TaskState, atMs: number): number {
  const startedAtMs = unended?.startedAtMs ?? atMs;
  return atMs - startedAtMs >= limits.trainedMs ? 0 : tries.row;
}

function cut(text: string): string {
  return text.slice(0, limits.messageCharsMax);
}

export const taskDecider: Decider<TaskState, TaskCommand, TaskEvent> = {
  initial: initialTask,
  decide: decideTask,
  evolve: evolveTask,
};
