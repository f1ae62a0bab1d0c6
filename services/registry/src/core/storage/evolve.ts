import type { StorageEvent, StorageState } from "./state.ts";

export const initialStorage: StorageState = { id: "", replaced: [] };

export function evolveStorageState(state: StorageState, event: StorageEvent): StorageState {
  if (event.type !== "StorageAdopted") return state;
  const { storageId, replacedIds } = event.data;
  const replaced = new Set([...state.replaced, ...replacedIds]);
  // An older marker that was put back is the storage's own again.
  replaced.delete(storageId);
  return { id: storageId, replaced: [...replaced] };
}
