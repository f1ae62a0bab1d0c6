/** The members of rungs and the states of trials, for display and invariant checks. */
import { assert } from "@trainyard/kernel";
import type { SearchState } from "../state.ts";
import { entriesBetween } from "../ranking.ts";
import { isHalving } from "./state.ts";

export type RungMembers = {
  readonly units: number;
  /**
   * The trials of the rung, the best first. Values are ranked values: negated if larger is better, the largest number
   * for the worst.
   */
  readonly entries: readonly { readonly trial: number; readonly value: number }[];
};

export type TrialMember = {
  readonly bracket: number;
  readonly rung: number;
  /** The time and ranked value of the trial's last counted report. */
  readonly time: number;
  readonly value: number;
};

export type HalvingMembers = {
  readonly brackets: readonly { readonly rungs: readonly RungMembers[] }[];
  /** The trials by number: trial n is at index n - 1. */
  readonly trials: readonly TrialMember[];
};

/** Returns the rungs and trials of a halving search. */
export function halvingMembers({ memory }: SearchState): HalvingMembers {
  assert(isHalving(memory), "the search is one that halves");
  const { brackets, plan, places } = memory;
  return {
    brackets: brackets.map(({ rungs }, index) => ({
      rungs: rungs.map(({ all }, rung) => ({
        units: plan.brackets[index]?.units[rung] ?? 0,
        entries: entriesBetween(all, 0, all.size).map(({ trial, value }) => ({ trial, value })),
      })),
    })),
    trials: places.map(({ bracket, rung, time, value }) => ({ bracket, rung, time, value })),
  };
}
