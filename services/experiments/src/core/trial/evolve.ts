import type { Plain } from "@trainyard/contracts";
import { type LaunchFailure, RunEndWhy } from "@trainyard/contracts/events";
import { limits } from "../../limits.ts";
import type { Checkpoint, TrialEvent, TrialState, Unlaunched } from "./state.ts";

export const initialTrial: TrialState = {
  status: "none",
  warmStart: "",
  warmStartStep: 0,
  runs: 0,
  unended: null,
  lastEnd: null,
  restarts: 0,
  launchFailures: 0,
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
    case "RunRequested":
      return {
        ...state,
        runs: event.data.run,
        unended: { started: false, stop: null, from: event.data.fromCheckpoint },
        restarts: state.restarts + (state.lastEnd?.countsAsRestart === true ? 1 : 0),
        checkpoints: state.checkpoints.filter(({ step }) => step <= event.data.fromStep),
        named: [],
        awaitedUntilMs: 0,
      };
    case "RunStarted":
      if (state.unended === null) return state;
      return { ...state, unended: { ...state.unended, started: true }, ...launched };
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
        lastFailure: undefined,
        restarts: 0,
        ...launched,
        continued: { continuation: event.data.continuation, runs: state.runs },
      };
    default:
      return state;
  }
}

function endRun(state: TrialState, { data }: TrialEvent & { type: "RunEnded" }): TrialState {
  const neverStarted = data.why === RunEndWhy.LOST && state.unended?.started === false;
  return {
    ...name(state, data.sealed?.checkpoints ?? [], data.awaitedUntilMs ?? 0),
    unended: null,
    lastEnd: {
      run: data.run,
      why: data.why,
      message: data.message,
      countsAsRestart: data.countsAsRestart,
    },
    ...(data.countsAsRestart ? { lastFailure: { run: data.run, message: data.message } } : {}),
    launchFailures: neverStarted ? state.launchFailures + 1 : state.launchFailures,
    unlaunched: unlaunchedAfter(state.unlaunched, data.launchFailure),
  };
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

const launched = { launchFailures: 0, unlaunched: undefined } as const;

function unlaunchedAfter(
  before: Unlaunched | undefined,
  failure: Plain<LaunchFailure> | undefined,
): Unlaunched | undefined {
  if (failure === undefined) return before;
  const { attempts = 0, agents = [], avoid = [] } = before ?? {};
  const both = (known: readonly string[]): readonly string[] => [
    ...new Set([...known, ...failure.agents]),
  ];
  // If the registry was unavailable, another agent may be tried, but the failure counts against none.
  if (failure.platformAway) return { attempts, agents, avoid: both(avoid) };
  return { attempts: attempts + 1, agents: both(agents), avoid: both(avoid) };
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
