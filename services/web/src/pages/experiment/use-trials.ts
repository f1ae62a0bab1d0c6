import type { ReplyOf } from "@trainyard/contracts";
import { useCall } from "../../app/calls.ts";
import type { Experiment } from "./tabs.ts";
import { orderOf, type WhichTrials } from "./which-trials.ts";

export type Trial = ReplyOf<"listTrials">["items"][number];

const none: readonly Trial[] = [];
/** One page, as large as pages are. */
export const trialsMax = 1_000;

/** The trials of an experiment, new ones by themselves; of more than a page those that `which` names. */
export function useTrials({ id, trials, smallerIsBetter }: Experiment, which: WhichTrials) {
  // In the order of their numbers all of a small experiment are one read, whichever are drawn.
  const orderBy = trials > trialsMax ? orderOf(which, smallerIsBetter) : "";
  const answer = useCall(
    "listTrials",
    { experiment: id, pageSize: trialsMax, orderBy },
    {
      watch: { kind: "trials", experiment: id },
      follow: true,
      order: orderBy === "" ? "oldest first" : undefined,
      keepPrevious: true,
    },
  );
  return { ...answer, trials: answer.data?.items ?? none };
}
