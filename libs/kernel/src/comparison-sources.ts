/**
 * The texts that name trials to compare, in the API and in the URL of a comparison: `12.3`, `12.1-3.7`, `12.best`,
 * `12.best5`, `12.all`.
 */
import { type ExperimentId, isExperimentId, type TrialId, trialId } from "./ids.ts";

/** The numbers from `first` to `last`, both included. */
export type TrialRange = { readonly first: number; readonly last: number };

export type ComparisonSource = { readonly experiment: ExperimentId } & (
  | {
      readonly kind: "trials";
      /** In ascending order; no two ranges overlap or touch. */
      readonly ranges: readonly TrialRange[];
    }
  | { readonly kind: "best"; readonly count: number }
  | { readonly kind: "all" }
);

const bestPattern = /^best([1-9][0-9]{0,8})?$/;
const rangePattern = /^([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?$/;

/** Returns null for a text that is not a source. */
export function parseComparisonSource(text: string): ComparisonSource | null {
  const dot = text.indexOf(".");
  const [experiment, what] = [text.slice(0, Math.max(dot, 0)), text.slice(dot + 1)];
  if (!isExperimentId(experiment)) return null;
  if (what === "all") return { experiment, kind: "all" };
  const best = bestPattern.exec(what);
  if (best !== null) return { experiment, kind: "best", count: Number(best[1] ?? 1) };
  const ranges: TrialRange[] = [];
  for (const part of what.split(".")) {
    const [, first, last = first] = rangePattern.exec(part) ?? [];
    if (Number(first) > Number(last) || first === undefined) return null;
    ranges.push({ first: Number(first), last: Number(last) });
  }
  return { experiment, kind: "trials", ranges: joined(ranges) };
}

/** Returns how many trials the ranges have. */
export const rangesSize = (ranges: readonly TrialRange[]): number =>
  ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);

/** Returns the ids of all trials of the ranges, in ascending order. */
export const trialsOfRanges = (
  experiment: ExperimentId,
  ranges: readonly TrialRange[],
): readonly TrialId[] =>
  ranges.flatMap(({ first, last }) =>
    Array.from({ length: last - first + 1 }, (_, index) => trialId(experiment, first + index)),
  );

/** Sorts ranges and joins those that overlap or touch. */
function joined(ranges: readonly TrialRange[]): readonly TrialRange[] {
  const found: TrialRange[] = [];
  for (const range of ranges.toSorted((a, b) => a.first - b.first)) {
    const before = found.at(-1);
    if (before === undefined || range.first > before.last + 1) found.push(range);
    else found[found.length - 1] = { ...before, last: Math.max(before.last, range.last) };
  }
  return found;
}
