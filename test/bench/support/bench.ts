/** The interface of a benchmark, and its report. */
import type { EmbeddedCluster } from "./embedded-cluster.ts";
import type { MachineWatch } from "./machine.ts";

/**
 * `tiny` only tests that the benchmark runs, `short` measures within 5 minutes, `full` has longer rounds and more data.
 */
export type Size = "tiny" | "short" | "full";

export type BenchContext = {
  readonly size: Size;
  /** Whether any of these results is requested; a benchmark need not measure the others. */
  readonly wants: (...ids: readonly string[]) => boolean;
  /** Prints a line about the progress. */
  readonly say: (line: string) => void;
  readonly watch: MachineWatch;
  /** A cluster for all benchmarks that need one, which only tests have: to be measured, each starts its own. */
  readonly cluster?: EmbeddedCluster;
};

export type Bar = {
  readonly id: string;
  readonly unit: string;
  /** The ratio to the baseline below which the implementation counts as broken. */
  readonly floor: number | null;
  /** The desired ratio to the baseline. */
  readonly goal: number | null;
};

export type BenchResult = Bar & {
  readonly value: number;
  /** The value of the baseline for the same work, in the same run and unit; null without a baseline. */
  readonly baseline: number | null;
  /** The ratio to the baseline, larger is better: value over baseline for rates, baseline over value for times. */
  readonly ratio: number | null;
  readonly note: string;
};

export type Bench = (context: BenchContext) => Promise<readonly BenchResult[]>;

const rounded = (value: number): number => Number(value.toPrecision(4));

/** Returns the result of a rate, of which more is better. */
export function rateResult(
  bar: Bar,
  ours: number,
  baseline: number | null,
  note = "",
): BenchResult {
  return {
    ...bar,
    value: rounded(ours),
    baseline: baseline === null ? null : rounded(baseline),
    ratio: baseline === null ? null : rounded(ours / baseline),
    note,
  };
}

/** Returns the result of a time or another cost, of which less is better. */
export function costResult(
  bar: Bar,
  ours: number,
  baseline: number | null,
  note = "",
): BenchResult {
  return {
    ...bar,
    value: rounded(ours),
    baseline: baseline === null ? null : rounded(baseline),
    ratio: baseline === null ? null : rounded(baseline / ours),
    note,
  };
}
