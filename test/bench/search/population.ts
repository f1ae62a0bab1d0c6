/** The example of population-based training: two members that each ignore one weight. */
import { bestOfToy } from "@trainyard/search/testing";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";

/** The number of seeds in every size: a seed takes milliseconds, and the goal concerns the worst of them. */
const SEEDS = 20;
const WANTED = 1.19;
/** The best value that a member reaches alone. */
const ALONE = 0.39;

export function measurePopulation({ say }: BenchContext): BenchResult {
  const bests = Array.from({ length: SEEDS }, (_, i) => bestOfToy(i + 1)).sort((a, b) => a - b);
  const at = (share: number): number => bests[Math.floor(share * (SEEDS - 1))] ?? Number.NaN;
  const reached = bests.filter((best) => best >= WANTED).length;
  say(
    `pbt toy, ${SEEDS} seeds (alone ${ALONE}): worst ${at(0).toFixed(4)}, quartiles ${at(0.25).toFixed(4)} ${at(0.5).toFixed(4)} ${at(0.75).toFixed(4)}; ${reached} of ${SEEDS} reach ${WANTED}`,
  );
  const bar = { id: "pbt_toy_worst_seed", unit: "value", floor: null, goal: 1 };
  return rateResult(bar, at(0), WANTED, `the worst of ${SEEDS} seeds; at least ${WANTED} wanted`);
}
