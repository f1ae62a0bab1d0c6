import type { AnyEvent, EventData } from "@trainyard/contracts";
import {
  recordedConfig,
  recordedSource,
  searcherFacts,
  type StoragePlace,
} from "@trainyard/experiment-config/recorded";

/** The number of checkpoints that each ranking keeps. */
export type Policy = NonNullable<EventData<"RetentionPolicySet">["policy"]>;

export type ExperimentFacts = {
  readonly exists: boolean;
  readonly ended: boolean;
  /**
   * The deletion of the experiment. asked: it can still be undone, and all files stay. done: only checkpoints that
   * others need stay.
   */
  readonly deletion: "none" | "asked" | "done";
  /** Whether the experiment's search may start trials from checkpoints of earlier trials. */
  readonly startsFromCheckpoints: boolean;
  /** The checkpoint that the experiment's trials start from; empty for none. */
  readonly source: string;
  readonly policy: Policy;
  readonly metric: string;
  readonly smallerIsBetter: boolean;
  /** The folder of the experiment's TensorBoard files; null if they are beside its checkpoints. */
  readonly tensorboards: StoragePlace | null;
  /** The storage of the experiment's checkpoints, as the configuration names it; null if it is unknown. */
  readonly storage: StoragePlace | null;
};

/** The policy of an unknown experiment keeps every checkpoint. */
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
  storage: null,
};

export function evolveExperiment(state: ExperimentFacts, event: AnyEvent): ExperimentFacts {
  switch (event.type) {
    case "ExperimentCreated": {
      const config = recordedConfig(event.data.config);
      const { checkpoint_storage: storage, searcher } = config;
      return {
        ...state,
        exists: true,
        startsFromCheckpoints: searcherFacts(searcher.name).startsFromCheckpoints,
        source: recordedSource(event.data.config)?.checkpoint ?? "",
        policy: {
          saveExperimentBest: storage.save_experiment_best,
          saveTrialBest: storage.save_trial_best,
          saveTrialLatest: storage.save_trial_latest,
        },
        metric: searcher.metric,
        smallerIsBetter: searcher.smaller_is_better,
        tensorboards: config.tensorboard_storage ?? null,
        storage: config.checkpoint_storage,
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
