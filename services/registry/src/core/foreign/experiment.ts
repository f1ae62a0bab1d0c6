import type { AnyEvent } from "@trainyard/contracts";
import {
  type CheckpointStorage,
  recordedConfig,
  type StoragePlace,
  tensorboardStorage,
} from "@trainyard/experiment-config/recorded";

/**
 * The storage of an experiment's checkpoints and TensorBoard files; null for an unknown experiment. `deleted` means
 * deleted for good.
 */
export type ExperimentStorage = {
  readonly storage: CheckpointStorage | null;
  readonly tensorboards: StoragePlace | null;
  readonly deleted: boolean;
};

export const unknownStorage: ExperimentStorage = {
  storage: null,
  tensorboards: null,
  deleted: false,
};

export function evolveStorage(state: ExperimentStorage, event: AnyEvent): ExperimentStorage {
  if (event.type === "ExperimentDeleted") return { ...state, deleted: true };
  if (event.type !== "ExperimentCreated") return state;
  const config = recordedConfig(event.data.config);
  return { ...state, storage: config.checkpoint_storage, tensorboards: tensorboardStorage(config) };
}
