/** Returns the earlier of two times, either of which may be absent. */
export function earlier(a: number | null | undefined, b: number | null): number | null {
  if (a == null || b === null) return a ?? b;
  return Math.min(a, b);
}
