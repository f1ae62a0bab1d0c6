import type { AnyEvent } from "@trainyard/contracts";

/**
 * A person's statement about the storage at a root: its id, and the ids that it replaces. Both are empty without one.
 */
export type AdoptionFacts = { readonly id: string; readonly replaced: readonly string[] };

export const notAdopted: AdoptionFacts = { id: "", replaced: [] };

export function evolveAdoption(state: AdoptionFacts, event: AnyEvent): AdoptionFacts {
  if (event.type !== "StorageAdopted") return state;
  const { storageId, replacedIds } = event.data;
  const replaced = new Set([...state.replaced, ...replacedIds]);
  replaced.delete(storageId);
  return { id: storageId, replaced: [...replaced] };
}
