/** How a search that halves stands: who has come to which rung, and who is on the way where. For people and for checks. */
import type { SearchState } from "../state.ts";
import { entryAt } from "../persistent/ranking.ts";
import { itemsOf } from "../persistent/vector.ts";
import type { Halving } from "./memory.ts";

export type RungStand = {
  readonly units: number;
  /** The best first. Values as they are ranked: negated where larger is better, the largest number for the worst. */
  readonly entries: readonly { readonly trial: number; readonly value: number }[];
};

export type TrialStand = {
  readonly bracket: number;
  readonly rung: number;
  /** The last time and value that counted, as ranked. */
  readonly time: number;
  readonly value: number;
};

export type HalvingStand = {
  readonly brackets: readonly { readonly rungs: readonly RungStand[] }[];
  /** Trial number n at n - 1. */
  readonly trials: readonly TrialStand[];
};

/** Of a search whose algorithm is one of those that halve. */
export function halvingStand(search: SearchState): HalvingStand {
  const { brackets, plan, places } = search.memory as unknown as Halving;
  return {
    brackets: brackets.map(({ rungs }, index) => ({
      rungs: rungs.map(({ all }, rung) => ({
        units: plan.brackets[index]?.units[rung] ?? 0,
        entries: Array.from({ length: all.size }, (_, at) => {
          const { trial = 0, value = 0 } = entryAt(all, at) ?? {};
          return { trial, value };
        }),
      })),
    })),
    trials: [...itemsOf(places)].map(({ bracket, rung, time, value }) => ({
      bracket,
      rung,
      time,
      value,
    })),
  };
}
