import type { StorageEvent, StorageState } from "./state.ts";

export const initialStorage: StorageState = { id: "", replaced: [] };

export function evolveStorageState(state: StorageState, event: StorageEvent): StorageState {
  if (event.type !== "StorageAdopted") return state;
  const { storageId, replacedIds } = event.data;
  const replaced = new Set([...state.replaced, ...replacedIds]);
  // An earlier marker that was restored counts as the storage's id again.
  replaced.delete(storageId);
  return { id: storageId, replaced: [...replaced] };
}
