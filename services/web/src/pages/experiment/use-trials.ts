import type { ReplyOf } from "@trainyard/contracts";
import { useCall } from "../../data/calls.ts";
import type { Experiment } from "./tabs.ts";
import { orderOf, trialsMax, type WhichTrials } from "./which-trials.ts";

export type Trial = ReplyOf<"listTrials">["items"][number];

const none: readonly Trial[] = [];

/**
 * Reads the trials of an experiment and adds new ones at once. With more trials than a page has, it reads those that
 * `which` names.
 */
export function useTrials({ id, trials, smallerIsBetter }: Experiment, which: WhichTrials) {
  // All trials of a small experiment are one read in the order of their numbers, whichever are drawn.
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
