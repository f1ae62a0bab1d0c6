/** Of two times, either of which may not be there. */
export function earlier(a: number | null | undefined, b: number | null): number | null {
  if (a == null || b === null) return a ?? b;
  return Math.min(a, b);
}
