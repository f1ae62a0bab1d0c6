/** The places that callers hold, of `max`, of which one caller may hold `ofOneMax`. */
type Held = { readonly ofAll: number; readonly ofOne: number };
type Places = { readonly max: number; readonly ofOneMax: number };

/**
 * Returns whether a caller may take one more place: at most half of those that the others leave, but always a first
 * one that is free. So a few callers cannot take all places.
 */
export function leavesHalf({ ofAll, ofOne }: Held, { max, ofOneMax }: Places): boolean {
  const left = max - (ofAll - ofOne);
  return ofAll < max && ofOne < Math.min(ofOneMax, Math.max(1, Math.floor(left / 2)));
}
