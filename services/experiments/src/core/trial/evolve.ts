import { limits } from "../../limits.ts";
import type { Checkpoint, TrialEvent, TrialState } from "./state.ts";
import { afterCheckpoint, afterEnd, noTries } from "./tries.ts";

export const initialTrial: TrialState = {
  status: "none",
  warmStart: "",
  warmStartStep: 0,
  runs: 0,
  unended: null,
  lastEnd: null,
  tries: noTries,
  checkpoints: [],
  named: [],
  awaitedUntilMs: 0,
  end: null,
};

export function evolveTrial(state: TrialState, event: TrialEvent): TrialState {
  switch (event.type) {
    case "TrialCreated": {
      const { warmStartCheckpoint, warmStartStep = 0 } = event.data;
      return { ...state, status: "open", warmStart: warmStartCheckpoint, warmStartStep };
    }
    case "RunRequested": {
      const { restarts } = state.tries;
      const restarted = state.lastEnd?.countsAsRestart === true ? restarts + 1 : restarts;
      return {
        ...state,
        runs: event.data.run,
        unended: { started: false, stop: null, from: event.data.fromCheckpoint },
        tries: {
          ...state.tries,
          restarts: restarted,
          step: Math.max(state.tries.step, event.data.fromStep),
        },
        checkpoints: state.checkpoints.filter(({ step }) => step <= event.data.fromStep),
        named: [],
        awaitedUntilMs: 0,
      };
    }
    case "RunStarted": {
      if (state.unended === null) return state;
      const { startedAtMs } = event.data;
      return { ...state, unended: { ...state.unended, started: true, startedAtMs } };
    }
    case "RunStopRequested": {
      if (state.unended === null) return state;
      const { mode, why, graceMs } = event.data;
      return { ...state, unended: { ...state.unended, stop: { mode, why, graceMs } } };
    }
    case "RunStopWithdrawn":
      if (state.unended === null) return state;
      return { ...state, unended: { ...state.unended, stop: null } };
    case "RunEnded":
      return endRun(state, event);
    case "RunCheckpointsNamed":
      return name(state, event.data.checkpoints, event.data.awaitedUntilMs);
    case "TrialCheckpointed":
      return {
        ...state,
        tries: afterCheckpoint(state.tries, event.data),
        checkpoints: remember(state.checkpoints, event.data),
        named: state.named.filter((checkpoint) => checkpoint !== event.data.checkpoint),
      };
    case "TrialEnded": {
      const { outcome, reason } = event.data;
      return { ...state, status: "ended", unended: null, end: { outcome, reason } };
    }
    case "TrialKillRequested":
      return { ...state, kill: event.data.reason };
    case "TrialContinued":
      return {
        ...state,
        status: "open",
        end: null,
        kill: undefined,
        lastEnd: null,
        tries: noTries,
        continued: { continuation: event.data.continuation, runs: state.runs },
      };
    default:
      return state;
  }
}

function endRun(state: TrialState, { data }: TrialEvent & { type: "RunEnded" }): TrialState {
  const { run, why, message, countsAsRestart, fault } = data;
  return {
    ...name(state, data.sealed?.checkpoints ?? [], data.awaitedUntilMs ?? 0),
    unended: null,
    lastEnd: { run, why, message, countsAsRestart, ...(fault === undefined ? {} : { fault }) },
    tries: afterEnd(state.tries, data),
  };
}

/** Whether a checkpoint of the run is complete. */
export function hasCheckpointOf({ checkpoints }: TrialState, run: number): boolean {
  return checkpoints.some((checkpoint) => checkpoint.run === run);
}

/** Names a checkpoint; one that is already complete is not waited for. */
function name(
  state: TrialState,
  sealed: readonly { readonly checkpoint: string }[],
  untilMs: number,
): TrialState {
  const known = new Set(state.checkpoints.map(({ checkpoint }) => checkpoint));
  const names = sealed.map(({ checkpoint }) => checkpoint).filter((one) => !known.has(one));
  return {
    ...state,
    named: [...new Set([...state.named, ...names])],
    awaitedUntilMs: Math.max(state.awaitedUntilMs, untilMs),
  };
}

/** Keeps the checkpoints sorted by step: uploads may finish in another order than they began. */
function remember(
  known: readonly Checkpoint[],
  { checkpoint, run, step }: Checkpoint,
): readonly Checkpoint[] {
  return [...known, { checkpoint, run, step }]
    .sort((a, b) => a.step - b.step)
    .slice(-limits.checkpointsRemembered);
}
