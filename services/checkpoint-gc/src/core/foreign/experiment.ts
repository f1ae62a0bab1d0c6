import type { AnyEvent } from "@trainyard/contracts";
import type { Policy } from "../policy/condemned.ts";

export type ExperimentFacts = {
  readonly ended: boolean;
  readonly policy: Policy;
  readonly metric: string;
  readonly smallerIsBetter: boolean;
};

/** What nothing is known of gives nothing up. */
export const unknownExperiment: ExperimentFacts = {
  ended: false,
  policy: {
    saveExperimentBest: Number.MAX_SAFE_INTEGER,
    saveTrialBest: Number.MAX_SAFE_INTEGER,
    saveTrialLatest: Number.MAX_SAFE_INTEGER,
  },
  metric: "",
  smallerIsBetter: true,
};

export function evolveExperiment(state: ExperimentFacts, event: AnyEvent): ExperimentFacts {
  switch (event.type) {
    case "ExperimentCreated": {
      const storage = section(event.data.config, "checkpoint_storage");
      const searcher = section(event.data.config, "searcher");
      const { metric } = searcher;
      return {
        ...state,
        policy: {
          saveExperimentBest: count(storage["save_experiment_best"], 0),
          saveTrialBest: count(storage["save_trial_best"], 1),
          saveTrialLatest: count(storage["save_trial_latest"], 1),
        },
        metric: typeof metric === "string" ? metric : "",
        smallerIsBetter: searcher["smaller_is_better"] !== false,
      };
    }
    case "ExperimentEnded":
      return { ...state, ended: true };
    default:
      return state;
  }
}

type Json = Readonly<Record<string, unknown>>;

function section(json: Json | undefined, key: string): Json {
  const value = json?.[key];
  return typeof value === "object" && value !== null ? (value as Json) : {};
}

function count(value: unknown, otherwise: number): number {
  return typeof value === "number" && value >= 0 ? value : otherwise;
}
