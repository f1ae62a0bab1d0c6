import { Fault, RunEndWhy, StopMode, TrialOutcome } from "@trainyard/contracts/events";
import { assertNever, type Decider, type Rejection, reject } from "@trainyard/kernel";
import { limits } from "../../limits.ts";
import type { EndRun, Left, RequestRun, TrialCommand } from "./commands.ts";
import { evolveTrial, hasCheckpointOf, initialTrial } from "./evolve.ts";
import type { Checkpoint, Stop, TrialEvent, TrialState } from "./state.ts";
import { isHarsher } from "./stops.ts";
import { rowAfter } from "./tries.ts";

type Decision = readonly TrialEvent[] | Rejection;

const alreadySo: Decision = [];
const notOpen = reject("trial_not_open", "the trial does not exist or has ended");
const runUnended = reject("run_unended", "the trial has a run that has not ended");

export function decideTrial(state: TrialState, command: TrialCommand): Decision {
  switch (command.kind) {
    case "create":
      if (state.status !== "none") return alreadySo;
      return [{ type: "TrialCreated", data: command.created }];
    case "request_run":
      return requestRun(state, command);
    case "start_run": {
      const { run, allocation, atMs: startedAtMs } = command;
      if (!isUnended(state, run) || state.unended?.started === true) return alreadySo;
      return [{ type: "RunStarted", data: { run, allocation, startedAtMs } }];
    }
    case "stop_run":
      return stopRun(state, command.stop);
    case "withdraw_stop":
      if (state.unended?.stop?.mode !== StopMode.GRACEFUL) return alreadySo;
      return [{ type: "RunStopWithdrawn", data: { run: state.runs } }];
    case "end_run":
      return endRun(state, command);
    case "await_upload":
      return awaitUpload(state, command);
    case "name_checkpoints":
      return nameCheckpoints(state, command);
    case "note_checkpoint":
      return noteCheckpoint(state, command.noted);
    case "continue":
      return continueTrial(state, command.continuation);
    case "kill": {
      if (state.status === "none") return reject("trial_not_found", "the trial does not exist");
      if (state.status === "ended" || state.kill !== undefined) return alreadySo;
      const reason = command.reason.slice(0, limits.messageCharsMax);
      return [{ type: "TrialKillRequested", data: { reason } }];
    }
    case "fail_finished": {
      if (state.end?.outcome !== TrialOutcome.COMPLETED) return alreadySo;
      const { reason } = command;
      const data = { outcome: TrialOutcome.FAILED, reason, restarts: state.tries.restarts };
      return [{ type: "TrialEnded", data }];
    }
    case "end": {
      if (state.status === "ended") return alreadySo;
      if (state.status === "none") return notOpen;
      if (state.unended !== null) return runUnended;
      const { outcome, reason } = command;
      return [{ type: "TrialEnded", data: { outcome, reason, restarts: state.tries.restarts } }];
    }
    default:
      return assertNever(command, "a trial's command");
  }
}

/**
 * Continues the trial. Its last run's checkpoints are still waited for; otherwise the next run would start from an
 * older one.
 */
function continueTrial(state: TrialState, continuation: number): Decision {
  if (state.status !== "ended") return alreadySo;
  if ((state.continued?.continuation ?? 0) >= continuation) return alreadySo;
  const { awaitedUntilMs } = state;
  const data = { continuation, ...(awaitedUntilMs === 0 ? {} : { awaitedUntilMs }) };
  return [{ type: "TrialContinued", data }];
}

/** Whether `run` is the newest run and has not ended. Reports about any other run are stale. */
function isUnended(state: TrialState, run: number): boolean {
  return state.unended !== null && state.runs === run;
}

function requestRun(state: TrialState, command: RequestRun): Decision {
  const { experiment, resources, from, workspace, owner, damaged, delayMs } = command;
  const { agents } = state.tries;
  if (state.status !== "open") return notOpen;
  if (state.unended !== null) return runUnended;
  return [
    {
      type: "RunRequested",
      data: {
        run: state.runs + 1,
        fromCheckpoint: from?.checkpoint ?? "",
        fromStep: from?.step ?? 0,
        resources,
        preemptible: true,
        experiment,
        delayMs,
        ...(agents.length === 0 ? {} : { avoided: { agents } }),
        workspace,
        owner,
        ...(damaged === undefined ? {} : { damagedCheckpoint: damaged }),
      },
    },
  ];
}

/** Until it is withdrawn, a stop can only become more severe. Its remaining time may shrink, never grow. */
function stopRun(state: TrialState, stop: Stop): Decision {
  if (state.unended === null) return alreadySo;
  const before = state.unended.stop;
  if (before !== null && !isHarsher(stop, before)) return alreadySo;
  const graceMs = Math.min(stop.graceMs, before?.graceMs ?? stop.graceMs);
  return [{ type: "RunStopRequested", data: { run: state.runs, ...stop, graceMs } }];
}

function endRun(state: TrialState, command: EndRun): Decision {
  const { run, why, exits, message, left, launchFailure, atMs, agents } = command;
  if (!isUnended(state, run)) return alreadySo;
  // Without this check a trial whose runs reach their time limit before the first checkpoint would be repeated without
  // end.
  const isTooShort =
    command.timeLimited === true && left === undefined && !hasCheckpointOf(state, run);
  const fault = isTooShort ? Fault.SCRIPT : command.fault;
  const trainedMs = atMs - (state.unended?.startedAtMs ?? atMs);
  const before = trainedMs >= limits.trainedMs ? 0 : state.tries.row;
  const row = rowAfter(before, launchFailure);
  const isUnexcused = why === RunEndWhy.FAILED && state.tries.excused >= limits.excusedMax;
  const perExit = Math.floor(limits.exitCharsMax / Math.max(exits.length, 8));
  return [
    {
      type: "RunEnded",
      data: {
        run,
        why,
        exits: exits.map((exit) => ({ ...exit, message: exit.message.slice(0, perExit) })),
        message: (isTooShort ? tooShort : message).slice(0, limits.messageCharsMax),
        // A run whose checkpoint is damaged does not count: no later run starts from that checkpoint, so this happens
        // once for each.
        countsAsRestart: (fault === Fault.SCRIPT || isUnexcused) && command.startDamaged !== true,
        ...(fault === undefined ? {} : { fault, triesInRow: row }),
        ...(fault === undefined || agents.length === 0 ? {} : { avoided: { agents } }),
        ...(launchFailure === undefined ? {} : { launchFailure }),
        ...(left === undefined
          ? {}
          : { sealed: { checkpoints: left.sealed }, awaitedUntilMs: awaitedUntilMs(left) }),
      },
    },
  ];
}

const tooShort = "it reached its time limit without a new checkpoint";

/** Returns the time until which a next run waits for checkpoints that the last one has left. */
export function awaitedUntilMs({ sealed, atMs }: Left): number {
  // An invalid size adds nothing: otherwise the wait would have no end.
  const bytes = sealed.reduce((sum, one) => sum + (one.bytes > 0 ? one.bytes : 0), 0);
  const waitMs = limits.checkpointsWaitMs + bytes / limits.checkpointBytesPerMs;
  return atMs + Math.min(waitMs, limits.checkpointsWaitLastMs);
}

/**
 * Names checkpoints that the newest run has left; an older run's do not count, since a later run was requested without
 * them. A checkpoint that was named before is not named again.
 */
function nameCheckpoints(
  state: TrialState,
  { run, left }: Extract<TrialCommand, { kind: "name_checkpoints" }>,
): Decision {
  if (state.status === "none" || run !== state.runs) return alreadySo;
  const known = new Set([...state.named, ...state.checkpoints.map((one) => one.checkpoint)]);
  const checkpoints = left.sealed.filter(({ checkpoint }) => !known.has(checkpoint));
  if (checkpoints.length === 0) return alreadySo;
  // An ended trial waits for no checkpoint.
  const untilMs = state.status === "ended" ? 0 : awaitedUntilMs({ ...left, sealed: checkpoints });
  return [{ type: "RunCheckpointsNamed", data: { run, checkpoints, awaitedUntilMs: untilMs } }];
}

/** Extends the wait for a named checkpoint whose upload makes progress. */
function awaitUpload(
  state: TrialState,
  { run, checkpoint, atMs }: Extract<TrialCommand, { kind: "await_upload" }>,
): Decision {
  const isAwaited =
    state.status === "open" &&
    state.unended === null &&
    run === state.runs &&
    state.named.includes(checkpoint);
  const awaitedUntilMs = atMs + limits.checkpointsWaitMs;
  if (!isAwaited || awaitedUntilMs <= state.awaitedUntilMs) return alreadySo;
  return [{ type: "RunCheckpointsNamed", data: { run, checkpoints: [], awaitedUntilMs } }];
}

/**
 * Notes a complete checkpoint of the newest run. An older run's does not count once a later run was requested. After
 * the trial's end a named checkpoint still counts: other trials may begin from it.
 */
function noteCheckpoint(state: TrialState, noted: Checkpoint): Decision {
  if (state.status === "none" || noted.run !== state.runs) return alreadySo;
  if (state.status === "ended" && !state.named.includes(noted.checkpoint)) return alreadySo;
  if (state.checkpoints.some(({ checkpoint }) => checkpoint === noted.checkpoint)) return alreadySo;
  return [{ type: "TrialCheckpointed", data: noted }];
}

export const trialDecider: Decider<TrialState, TrialCommand, TrialEvent> = {
  initial: initialTrial,
  decide: decideTrial,
  evolve: evolveTrial,
};
