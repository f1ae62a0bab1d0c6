import type { AnyEvent } from "@trainyard/contracts";
import { type CheckpointStorage, recordedConfig } from "@trainyard/experiment-config/recorded";

/** Where an experiment's checkpoints go; null for one that is not known. `deleted`: for good. */
export type ExperimentStorage = {
  readonly storage: CheckpointStorage | null;
  readonly deleted: boolean;
};

export const unknownStorage: ExperimentStorage = { storage: null, deleted: false };

export function evolveStorage(state: ExperimentStorage, event: AnyEvent): ExperimentStorage {
  if (event.type === "ExperimentDeleted") return { ...state, deleted: true };
  if (event.type !== "ExperimentCreated") return state;
  return { ...state, storage: recordedConfig(event.data.config).checkpoint_storage };
}
