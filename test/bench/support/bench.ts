/** The interface of a benchmark, and its report. */
import type { MachineWatch } from "./machine.ts";

/** tiny: that it runs at all, for a test. short: figures, within 5 minutes. full: longer rounds, larger data. */
export type Size = "tiny" | "short" | "full";

export type BenchContext = {
  readonly size: Size;
  /** Whether any of these results is asked for; a bench need not measure the others. */
  readonly wants: (...ids: readonly string[]) => boolean;
  /** Says what is continuing, to people. */
  readonly say: (line: string) => void;
  readonly watch: MachineWatch;
};

export type Bar = {
  readonly id: string;
  readonly unit: string;
  /** Below this ratio something is broken. */
  readonly floor: number | null;
  /** The ratio that is aimed for. */
  readonly goal: number | null;
};

export type BenchResult = Bar & {
  readonly value: number;
  /** The same work done by what it is compared with, in the same run and unit; null without one. */
  readonly baseline: number | null;
  /** Always better when larger: ours over the baseline for rates, the other way round for times. */
  readonly ratio: number | null;
  readonly note: string;
};

export type Bench = (context: BenchContext) => Promise<readonly BenchResult[]>;

const rounded = (value: number): number => Number(value.toPrecision(4));

/** A rate: more is better. */
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

/** A time, or another cost: less is better. */
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
