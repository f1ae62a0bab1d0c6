/** The places that callers hold, of `max`, of which one caller may hold `ofOneMax`. */
type Held = { readonly ofAll: number; readonly ofOne: number };
type Places = { readonly max: number; readonly ofOneMax: number };

/**
 * Returns whether a caller may take one more place: it has at most half of those that the others leave, rounded up. So
 * a few callers cannot take all places, and a caller without any gets the last one.
 */
export function leavesHalf({ ofAll, ofOne }: Held, { max, ofOneMax }: Places): boolean {
  const left = max - (ofAll - ofOne);
  return ofOne < Math.min(ofOneMax, Math.ceil(left / 2));
}
