/** The error of the estimated time left, half way through simulated searches. */
import type { SearcherConfig } from "@trainyard/experiment-config";
import { type Moment, populationMoments, simulatedMoments } from "@trainyard/search/testing";
import type { BenchContext } from "../support/bench.ts";

const timed = {
  metric: "loss",
  smaller_is_better: true,
  time_metric: "",
  max_concurrent_trials: 8,
} as const;
const single: SearcherConfig = { ...timed, name: "single", max_time: 40 };
const random = (trials: number): SearcherConfig => ({
  ...timed,
  name: "random",
  max_trials: trials,
  max_time: 40,
});
const asha = (trials: number): SearcherConfig => ({
  ...timed,
  name: "asha",
  max_trials: trials,
  max_time: 27,
  min_time: 1,
  divisor: 3,
  resume: true,
});

type Search = readonly [name: string, momentsOf: (seed: number) => readonly Moment[]];

const searches: readonly Search[] = [
  ["single", (seed) => simulatedMoments(single, { seed, workers: 1 })],
  ["random, 12 trials on 4 workers", (seed) => simulatedMoments(random(12), { seed, workers: 4 })],
  ["asha, 12 trials on 4 workers", (seed) => simulatedMoments(asha(12), { seed, workers: 4 })],
  ["asha, 81 trials on 8 workers", (seed) => simulatedMoments(asha(81), { seed, workers: 8 })],
  ["pbt, 8 members", populationMoments],
];

/** Prints the median and the largest error over the seeds, as a share of the time that was left. */
export function sayTimeLeft({ say, size }: BenchContext): void {
  say("time left at half time, median / largest error over the seeds");
  for (const [name, momentsOf] of searches) {
    const errors = Array.from({ length: size === "tiny" ? 1 : 20 }, (_, i) =>
      errorAtHalfTime(momentsOf(i + 1)),
    ).sort((a, b) => a - b);
    const percent = (error = 0) => `${Math.round(100 * error)} %`;
    const median = errors[Math.floor(errors.length / 2)];
    say(`  ${name}: ${percent(median)} / ${percent(errors.at(-1))}`);
  }
}

function errorAtHalfTime(moments: readonly Moment[]): number {
  const { at: end = 0 } = moments.at(-1) ?? {};
  const half = moments.findLast(({ at }) => at <= end / 2);
  if (half === undefined || half.left === null) return 1;
  const left = end - half.at;
  return Math.abs(half.left - left) / left;
}
