import type { AnyEvent } from "@trainyard/contracts";
import {
  type CheckpointStorage,
  recordedConfig,
  type StoragePlace,
  taskConfig,
  tensorboardStorage,
} from "@trainyard/experiment-config/recorded";

/**
 * The storage of an experiment's checkpoints and TensorBoard files, or of a task's saves; null for an unknown one.
 * `deleted` means deleted for good.
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

export function evolveTaskStorage(state: ExperimentStorage, event: AnyEvent): ExperimentStorage {
  if (event.type === "TaskDeleted") return { ...state, deleted: true };
  if (event.type !== "TaskCreated") return state;
  return { ...state, storage: taskConfig(event.data.config).checkpoint_storage ?? null };
}
