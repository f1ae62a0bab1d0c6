/**
 * A place in the order in which runs were queued. Long waits are recorded in this order, so the last recorded place
 * says which runs are recorded, however many they are.
 */
export type QueuePlace = { readonly queuedAtMs: number; readonly run: string };

/** Whether a place is behind another one; every place is behind null. */
export function isBehind(place: QueuePlace, other: QueuePlace | null): boolean {
  if (other === null || place.queuedAtMs > other.queuedAtMs) return true;
  return place.queuedAtMs === other.queuedAtMs && place.run > other.run;
}

/** Returns the last one of some places; null only for none. */
export function lastOf(places: readonly (QueuePlace | null)[]): QueuePlace | null {
  return places.reduce((last, place) => {
    return place !== null && isBehind(place, last) ? place : last;
  }, null);
}
