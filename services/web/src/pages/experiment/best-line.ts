/** The curve of the best value so far, over the validations of all trials. */
import type { ReplyOf } from "@trainyard/contracts";
import { chartTrialOf, type Line } from "../../components/chart/line.ts";

/**
 * Returns a line with a step at each improvement, up to the last validation, in the hue of the trial with the last
 * improvement; null before the first value.
 */
export function bestLine(
  items: ReplyOf<"getBestSoFar">["items"],
  validations: number,
): Line | null {
  const last = items.at(-1);
  if (last === undefined) return null;
  const points = items.flatMap(({ observations, value }, index) => {
    const before = items[index - 1];
    const corner = before === undefined ? [] : [[observations, before.value] as const];
    return [...corner, [observations, value] as const];
  });
  if (validations > last.observations) points.push([validations, last.value]);
  const x = points.map(([observations]) => observations);
  const y = points.map(([, value]) => value);
  return {
    ...chartTrialOf(last.trial),
    id: "best",
    of: last.trial,
    group: "best",
    ...{ x, from: x, to: x, count: x.map(() => 1) },
    y,
    low: y,
    high: y,
    points: y.length,
    marks: [],
  };
}
