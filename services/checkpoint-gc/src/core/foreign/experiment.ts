import type { AnyEvent } from "@trainyard/contracts";
import {
  recordedConfig,
  recordedSource,
  type StoragePlace,
} from "@trainyard/experiment-config/recorded";
import type { Policy } from "../policy/condemned.ts";

export type ExperimentFacts = {
  readonly exists: boolean;
  readonly ended: boolean;
  /** asked: it may be brought back, and nothing of it is touched. done: nothing of it is kept but what others need. */
  readonly deletion: "none" | "asked" | "done";
  /** Whether its search may start trials from checkpoints that it remembers. */
  readonly startsFromCheckpoints: boolean;
  /** The checkpoint that its trials start from; empty for none. */
  readonly source: string;
  readonly policy: Policy;
  readonly metric: string;
  readonly smallerIsBetter: boolean;
  /** The place of its TensorBoard files; null where they are beside its checkpoints. */
  readonly tensorboards: StoragePlace | null;
};

/** A checkpoint of an unknown experiment is not given up. */
export const unknownExperiment: ExperimentFacts = {
  exists: false,
  ended: false,
  deletion: "none",
  startsFromCheckpoints: false,
  source: "",
  policy: {
    saveExperimentBest: Number.MAX_SAFE_INTEGER,
    saveTrialBest: Number.MAX_SAFE_INTEGER,
    saveTrialLatest: Number.MAX_SAFE_INTEGER,
  },
  metric: "",
  smallerIsBetter: true,
  tensorboards: null,
};

/** Searches whose trials may start from checkpoints of others, not only from the latest ones. */
const remembering: ReadonlySet<string> = new Set(["pbt", "custom"]);

export function evolveExperiment(state: ExperimentFacts, event: AnyEvent): ExperimentFacts {
  switch (event.type) {
    case "ExperimentCreated": {
      const config = recordedConfig(event.data.config);
      const { checkpoint_storage: storage, searcher } = config;
      return {
        ...state,
        exists: true,
        startsFromCheckpoints: remembering.has(searcher.name),
        source: recordedSource(event.data.config)?.checkpoint ?? "",
        policy: {
          saveExperimentBest: storage.save_experiment_best,
          saveTrialBest: storage.save_trial_best,
          saveTrialLatest: storage.save_trial_latest,
        },
        metric: searcher.metric,
        smallerIsBetter: searcher.smaller_is_better,
        tensorboards: config.tensorboard_storage ?? null,
      };
    }
    case "ExperimentEnded":
      return { ...state, ended: true };
    case "ExperimentDeletionRequested":
      return { ...state, deletion: "asked" };
    case "ExperimentDeletionUndone":
      return { ...state, deletion: "none" };
    case "ExperimentDeleted":
      return { ...state, deletion: "done" };
    case "ExperimentContinued":
      return { ...state, ended: false };
    default:
      return state;
  }
}
