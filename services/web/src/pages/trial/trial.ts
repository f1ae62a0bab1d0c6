import type { ReplyOf } from "@trainyard/contracts";
import { isPositionMetric } from "@trainyard/contracts/position-metrics";
import type { TrialSearch } from "./search.ts";

export type ShownTrial = ReplyOf<"getTrial">;
export type ShownRun = ShownTrial["runs"][number];

export type TabProps = {
  readonly trial: ShownTrial;
  readonly search: TrialSearch;
  /** The trial has not ended. */
  readonly live: boolean;
  readonly onSearch: (changes: TrialSearch) => void;
};

/** The address of a line in the trial's log. */
export const lineHref = (trial: string, cursor: string): string =>
  `/trials/${trial}?tab=logs&line=${cursor}`;

/** The start of each run but the first: the step of its checkpoint. */
export function runStarts(
  runs: readonly Pick<ShownRun, "number" | "fromCheckpoint">[],
  stepOf: ReadonlyMap<string, number>,
): readonly { readonly step: number; readonly run: number }[] {
  return runs
    .filter(({ number }) => number > 1)
    .map(({ number, fromCheckpoint }) => ({ run: number, step: stepOf.get(fromCheckpoint) ?? 0 }));
}

type MetricName = { readonly group: string; readonly name: string; readonly kind: string };

/**
 * The scalars of each group except positions: validation first, because the search decides by it, and in it the metric
 * of the search.
 */
export function groupsOf(
  names: readonly MetricName[],
  metric: string | undefined,
): readonly (readonly [group: string, metrics: readonly string[]])[] {
  const scalars = names.filter(({ kind, name }) => kind === "scalar" && !isPositionMetric(name));
  const groups = Map.groupBy(scalars, ({ group }) => group);
  const last = (name: string, first: string | undefined) => Number(name !== first);
  return [...groups]
    .toSorted(([one], [other]) => last(one, "validation") - last(other, "validation"))
    .map(([group, some]) => [
      group,
      some
        .map(({ name }) => name)
        .toSorted((one, other) => last(one, metric) - last(other, metric)),
    ]);
}
