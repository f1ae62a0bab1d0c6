import type { AnyEvent, EventData } from "@trainyard/contracts";

type Section = NonNullable<EventData<"CheckpointDeclared">["storage"]>;

/** Where an experiment's checkpoints go. */
export type ExperimentStorage = { readonly storage: Section | null };

export const unknownStorage: ExperimentStorage = { storage: null };

export function evolveStorage(state: ExperimentStorage, event: AnyEvent): ExperimentStorage {
  if (event.type !== "ExperimentCreated") return state;
  const section = event.data.config?.["checkpoint_storage"];
  if (typeof section !== "object" || section === null || Array.isArray(section)) return state;
  return { storage: section as Section };
}
