import type { AnyEvent, EventData } from "@trainyard/contracts";

type Json = NonNullable<EventData<"TrialCreated">["hyperparameters"]>;

/** The facts of a trial that a launch needs, and of its newest run. */
export type TrialWork = {
  readonly experiment: string;
  readonly hyperparameters: Json;
  readonly seed: number;
  readonly run: number;
  readonly fromCheckpoint: string;
  readonly fromStep: number;
};

export const initialTrial: TrialWork = {
  experiment: "",
  hyperparameters: {},
  seed: 0,
  run: 0,
  fromCheckpoint: "",
  fromStep: 0,
};

export function evolveTrial(state: TrialWork, event: AnyEvent): TrialWork {
  if (event.type === "TrialCreated") {
    const { experiment, hyperparameters, seed } = event.data;
    return { ...state, experiment, hyperparameters: hyperparameters ?? {}, seed };
  }
  if (event.type === "RunRequested") {
    const { run, fromCheckpoint, fromStep } = event.data;
    return { ...state, run, fromCheckpoint, fromStep };
  }
  return state;
}
