import { StopMode, StopWhy, TaskOutcome } from "@trainyard/contracts/events";
import { withoutAgents } from "@trainyard/experiment-config/recorded";
import { assertNever, type Decider, type Rejection, reject } from "@trainyard/kernel";
import { limits } from "../../limits.ts";
import { awaitedUntilMs } from "../trial/decide.ts";
import { rowAfter, tryDelayMs } from "../trial/tries.ts";
import type { EndTaskRun, RequestTaskRun, TaskCommand } from "./commands.ts";
import { afterRun } from "./end.ts";
import { evolveTask, initialTask } from "./evolve.ts";
import { awaitUpload, nameSaves, noteSave } from "./saves.ts";
import type { TaskEvent, TaskState } from "./state.ts";

type Decision = readonly TaskEvent[] | Rejection;

const alreadySo: Decision = [];
const notFound = reject("task_not_found", "the task does not exist or was deleted");
const notKept = reject("work_not_kept", "its folder is not saved: kill it, and start another");

export function decideTask(state: TaskState, command: TaskCommand): Decision {
  switch (command.kind) {
    case "create": {
      if (state.status !== "none") return alreadySo;
      const created: TaskEvent = { type: "TaskCreated", data: command.created };
      return [created, runRequested(evolveTask(state, created), null, 0)];
    }
    case "request_run":
      return requestRun(state, command);
    case "start_run": {
      const { run, allocation, atMs: startedAtMs } = command;
      if (!isUnended(state, run) || state.unended?.startedAtMs !== null) return alreadySo;
      return [{ type: "RunStarted", data: { run, allocation, startedAtMs } }];
    }
    case "end_run":
      return isUnended(state, command.run) ? endRun(state, command) : alreadySo;
    case "note_save":
      return noteSave(state, command.saved);
    case "name_saves":
      return nameSaves(state, command.run, command.left);
    case "await_upload":
      return awaitUpload(state, command);
    case "kill":
      return kill(state, command.reason);
    case "pause":
      return pause(state, command.reason);
    case "resume":
      return resume(state);
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
  const reason = cut(asked);
  const requested: TaskEvent = { type: "TaskKillRequested", data: { reason } };
  if (state.unended === null) {
    return [requested, ended(state, TaskOutcome.KILLED, reason || "killed")];
  }
  const stop = { run: state.runs, mode: StopMode.KILL, why: StopWhy.KILL, graceMs: 0 };
  return [requested, { type: "RunStopRequested", data: stop }];
}

function pause(state: TaskState, asked: string): Decision {
  if (state.status === "none" || state.status === "deleted") return notFound;
  if (state.status === "ended" || state.kill !== undefined) return alreadySo;
  if (state.pause !== undefined) return alreadySo;
  if (!state.plan.keepsWork) return notKept;
  const reason = cut(asked);
  const requested: TaskEvent = { type: "TaskPauseRequested", data: { reason } };
  if (state.unended === null) {
    return [requested, ended(state, TaskOutcome.PAUSED, reason || "paused")];
  }
  const { preemptionTimeoutMs = limits.preemptionGraceMs } = state.plan.resources;
  // A grace of 0 would never become a kill.
  const graceMs = Math.max(1, preemptionTimeoutMs);
  const stop = { run: state.runs, mode: StopMode.GRACEFUL, why: StopWhy.PAUSE, graceMs };
  return [requested, { type: "RunStopRequested", data: stop }];
}

/**
 * Continues an ended task. `request_run` follows, at once or after the wait for saves that the last run has left on its
 * agent: otherwise the next run would start from an older one.
 */
function resume(state: TaskState): Decision {
  const { status, plan, hasStarted, saves, named, runs: run, awaitedUntilMs: untilMs } = state;
  if (status === "none" || status === "deleted") return notFound;
  if (status === "open") {
    const isStopping = state.kill !== undefined || state.pause !== undefined;
    return isStopping
      ? reject("task_not_ended", "it has not ended yet: resume it when it has")
      : alreadySo;
  }
  if (!plan.keepsWork) {
    return reject("work_not_kept", "its folder is not saved, so it cannot be resumed");
  }
  if (hasStarted && saves.length === 0 && named.length === 0) {
    return reject("nothing_saved", "nothing of its folder was saved, so it cannot be resumed");
  }
  const resumed: TaskEvent = { type: "TaskResumed", data: {} };
  if (named.length === 0) return [resumed];
  const data = { run, checkpoints: [], awaitedUntilMs: untilMs };
  return [resumed, { type: "RunCheckpointsNamed", data }];
}

/** A task whose saves are all damaged or gone does not begin from the start: its owner would miss the files. */
function requestRun(state: TaskState, { from, delays }: RequestTaskRun): Decision {
  const { status, unended, saves, named, tries, fault } = state;
  if (status !== "open" || unended !== null) return alreadySo;
  if (from === null && saves.length + named.length > 0) {
    return [ended(state, TaskOutcome.FAILED, "none of its saves is complete and intact")];
  }
  return [runRequested(state, from, fault === undefined ? 0 : tryDelayMs(tries, fault, delays))];
}

function runRequested(state: TaskState, from: RequestTaskRun["from"], delayMs: number): TaskEvent {
  const { plan, workspace, owner, tries } = state;
  return {
    type: "RunRequested",
    data: {
      run: state.runs + 1,
      fromCheckpoint: from?.checkpoint ?? "",
      fromStep: from?.step ?? 0,
      resources: withoutAgents(plan.resources, tries.lacking),
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
  const { run, why, exits, message, fault, agents, launchFailure, delays, unsaved } = command;
  const row = fault === undefined ? 0 : rowAfter(rowBefore(state, command.atMs), launchFailure);
  const after = afterRun(state, command, row);
  const left = state.plan.keepsWork ? command.left : undefined;
  const runEnded: TaskEvent = {
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
      ...(left === undefined
        ? {}
        : { sealed: { checkpoints: left.sealed }, awaitedUntilMs: awaitedUntilMs(left) }),
      ...(unsaved === undefined ? {} : { unsaved: cut(unsaved) }),
    },
  };
  const next = evolveTask(state, runEnded);
  if (after.next === "end") {
    const exitCode = exits.find(({ nodeRank }) => nodeRank === 0)?.code;
    const more = {
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(unsaved === undefined ? {} : { unsaved: cut(unsaved) }),
    };
    return [runEnded, ended(next, after.outcome, after.reason, more)];
  }
  // The next run of a task that keeps its work starts from its latest save, so `request_run` decides it.
  if (state.plan.keepsWork) return [runEnded];
  const delayMs = fault === undefined ? 0 : tryDelayMs(next.tries, fault, delays);
  return [runEnded, runRequested(next, null, delayMs)];
}

function ended(
  state: TaskState,
  outcome: TaskOutcome,
  reason: string,
  more: { readonly exitCode?: number; readonly unsaved?: string } = {},
): TaskEvent {
  const { restarts } = state.tries;
  return { type: "TaskEnded", data: { outcome, reason: cut(reason), ...more, restarts } };
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
