import type { AnyEvent } from "@trainyard/contracts";
import { recordedConfig } from "@trainyard/experiment-config/recorded";
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
      const { checkpoint_storage: storage, searcher } = recordedConfig(event.data.config);
      return {
        ...state,
        policy: {
          saveExperimentBest: storage.save_experiment_best,
          saveTrialBest: storage.save_trial_best,
          saveTrialLatest: storage.save_trial_latest,
        },
        metric: searcher.metric,
        smallerIsBetter: searcher.smaller_is_better,
      };
    }
    case "ExperimentEnded":
      return { ...state, ended: true };
    default:
      return state;
  }
}
