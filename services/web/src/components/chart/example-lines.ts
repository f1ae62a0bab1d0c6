/** Lines for tests. */
import type { Line } from "./line.ts";

/** A line of trial 12.<number> with one point at each x. */
export function lineFor(number: number, x: readonly number[], y: readonly number[]): Line {
  return {
    ...{ id: `${number}`, of: `12.${number}`, label: `trial ${number}`, look: number },
    ...{ group: "validation", x, from: x, to: x, y, low: y, high: y },
    ...{ count: x.map(() => 1), points: x.length, marks: [] },
  };
}
