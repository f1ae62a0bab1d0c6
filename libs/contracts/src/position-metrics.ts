/**
 * Numbers that training code and frameworks report beside their metrics and that only say how far a trial is. A line of
 * one over steps is straight, so they are x axes, and neither charts, columns nor entries of lists of metrics.
 */
const positions: ReadonlySet<string> = new Set(["batches", "epochs", "progress"]);

export function isPositionMetric(name: string): boolean {
  return positions.has(name);
}
