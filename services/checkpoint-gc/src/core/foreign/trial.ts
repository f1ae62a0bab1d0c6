import type { AnyEvent } from "@trainyard/contracts";

/** The facts of a trial that decide which checkpoints it needs. */
export type TrialFacts = {
  readonly exists: boolean;
  readonly ended: boolean;
  /** The checkpoint that the trial began from; empty for none. */
  readonly warmStart: string;
  readonly latest: string;
  readonly latestStep: number;
  /**
   * The checkpoints that the trial's newest run named when it ended. The streams of the checkpoints record whether they
   * are complete.
   */
  readonly named: readonly string[];
  readonly unended: { readonly run: number; readonly fromCheckpoint: string } | null;
};

export const unknownTrial: TrialFacts = {
  exists: false,
  ended: false,
  warmStart: "",
  latest: "",
  latestStep: -1,
  named: [],
  unended: null,
};

export function evolveTrial(state: TrialFacts, event: AnyEvent): TrialFacts {
  switch (event.type) {
    case "TrialCreated":
      return { ...state, exists: true, warmStart: event.data.warmStartCheckpoint };
    case "RunRequested": {
      const { run, fromCheckpoint, fromStep } = event.data;
      // The trial continues from an earlier step: a checkpoint of a later step is not its latest.
      const back = fromStep < state.latestStep;
      const latest = back ? { latest: fromCheckpoint, latestStep: fromStep } : {};
      return { ...state, ...latest, ended: false, named: [], unended: { run, fromCheckpoint } };
    }
    case "RunEnded": {
      const { run, sealed } = event.data;
      if (run !== state.unended?.run) return state;
      return { ...name(state, sealed?.checkpoints ?? []), unended: null };
    }
    case "RunCheckpointsNamed":
      return name(state, event.data.checkpoints);
    case "TrialCheckpointed": {
      const { checkpoint, step } = event.data;
      if (step < state.latestStep) return state;
      return { ...state, latest: checkpoint, latestStep: step };
    }
    case "TrialEnded":
      return { ...state, ended: true, unended: null };
    case "TrialContinued":
      return { ...state, ended: false };
    default:
      return state;
  }
}

function name(state: TrialFacts, sealed: readonly { readonly checkpoint: string }[]): TrialFacts {
  const names = sealed.map(({ checkpoint }) => checkpoint);
  return { ...state, named: [...new Set([...state.named, ...names])] };
}
