import type { AnyEvent } from "@trainyard/contracts";
import { type CheckpointStorage, recordedConfig } from "@trainyard/experiment-config/recorded";

/** Where an experiment's checkpoints go; null for one that is not known. */
export type ExperimentStorage = { readonly storage: CheckpointStorage | null };

export const unknownStorage: ExperimentStorage = { storage: null };

export function evolveStorage(state: ExperimentStorage, event: AnyEvent): ExperimentStorage {
  if (event.type !== "ExperimentCreated") return state;
  return { storage: recordedConfig(event.data.config).checkpoint_storage };
}
