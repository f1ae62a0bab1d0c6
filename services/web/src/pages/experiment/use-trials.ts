import type { ReplyOf } from "@trainyard/contracts";
import { useMemo } from "react";
import { useCall } from "../../app/calls.ts";

export type Trial = ReplyOf<"listTrials">["items"][number];

const none: readonly Trial[] = [];
/** One page, as large as pages are. */
export const trialsMax = 1_000;
/** As many as one query of metrics takes. */
export const drawnMax = 200;

/** The trials of an experiment, in the order of their numbers; new ones come by themselves. */
export function useTrials(experiment: string) {
  const answer = useCall(
    "listTrials",
    { experiment, pageSize: trialsMax },
    { watch: { kind: "trials", experiment }, follow: true },
  );
  return { ...answer, trials: answer.data?.items ?? none };
}

/** The trials whose curves are drawn: of more than fit the best ones, and those that are selected. */
export function useDrawn(
  trials: readonly Trial[],
  selected: ReadonlySet<number>,
  smallerIsBetter: boolean,
): readonly Trial[] {
  return useMemo(() => {
    if (trials.length <= drawnMax) return trials;
    const worst = smallerIsBetter ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    const key = ({ number, bestValue = worst }: Trial): number => {
      if (selected.has(number)) return Number.NEGATIVE_INFINITY;
      return smallerIsBetter ? bestValue : -bestValue;
    };
    return trials
      .toSorted((a, b) => (key(a) < key(b) ? -1 : Number(key(a) > key(b))))
      .slice(0, drawnMax);
  }, [trials, selected, smallerIsBetter]);
}
