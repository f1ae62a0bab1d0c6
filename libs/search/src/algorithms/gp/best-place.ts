/**
 * Finds the place with the largest expected improvement.
 *
 * The exact deviation costs as much as a row of the factor, so candidates are ranked by an upper bound of it. From the
 * best of them the search climbs, by the gradient on continuous axes and step by step on the others.
 */
import { improvementSlopes, logImprovement } from "./improvement.ts";
import { placeAt, type Points } from "./kernel.ts";
import { descend } from "./lbfgs.ts";
import type { Process } from "./model.ts";

/** An axis of the search box: its number of cells, 0 for a continuous axis, and whether it is categorical. */
export type SearchedAxis = { readonly cells: number; readonly categorical: boolean };

/** Returns the place that a proposal of this place would really have; null if the proposal is refused. */
export type Settle = (place: readonly number[]) => readonly number[] | null;

export type Group = { readonly candidates: Points; readonly starts: number };

export type Searched = {
  readonly process: Process;
  readonly axes: readonly SearchedAxis[];
  readonly best: number;
  /** Groups of candidates: climbs start from the best of each group, so that no group crowds out another. */
  readonly groups: readonly Group[];
  readonly settle: Settle;
};

/** Every climb takes the first steps, and the few best ones continue. */
const FIRST_STEPS = 6;
const CONTINUED = 3;
const STEPS = 24;
const TOLERANCE = 1e-3;
const BOX = { low: 0, high: 1 - 2 ** -53 };

type Scored = { readonly place: readonly number[]; readonly gain: number };

/** Returns the best place, or null if every candidate is refused. */
export function bestPlace(searched: Searched): readonly number[] | null {
  const { settle } = searched;
  let found: Scored | null = null;
  const starts = searched.groups.flatMap((group) => startsOf(searched, group));
  const climbs = starts
    .map((start) => climb(searched, start, FIRST_STEPS))
    .sort((a, b) => b.gain - a.gain);
  for (const first of climbs.slice(0, CONTINUED)) {
    const climbed = climb(searched, first, STEPS);
    const place = settle(climbed.place);
    if (place === null) continue;
    if (found === null || climbed.gain > found.gain) found = { place, gain: climbed.gain };
  }
  return found?.place ?? null;
}

/** Returns the candidates with the largest bounds of their improvement that are not refused. */
function startsOf(
  { process, best, settle }: Searched,
  { candidates, starts: startsMax }: Group,
): readonly Scored[] {
  const most = process.survey(candidates).map((moments) => logImprovement(moments, best));
  const order = [...most.keys()].sort((a, b) => (most[b] as number) - (most[a] as number) || a - b);
  const starts: Scored[] = [];
  for (const i of order) {
    if (starts.length === startsMax) break;
    const place = settle([...placeAt(candidates, i)]);
    if (place === null) continue;
    starts.push({ place, gain: logImprovement(process.at(Float64Array.from(place)), best) });
  }
  return starts;
}

function climb(searched: Searched, start: Scored, stepsMax: number): Scored {
  const { axes } = searched;
  const continua = axes.flatMap(({ cells }, axis) => (cells === 0 ? [axis] : []));
  let at = climbContinua(searched, start, continua, stepsMax);
  if (continua.length === axes.length) return at;
  for (let round = 0; round < 3; round += 1) {
    const stepped = climbCells(searched, at);
    if (stepped === at) break;
    at = climbContinua(searched, stepped, continua, stepsMax);
  }
  return at;
}

/** Climbs by the gradient on the continuous axes, with the other axes fixed. */
function climbContinua(
  { process, best, settle, axes }: Searched,
  start: Scored,
  continua: readonly number[],
  stepsMax: number,
): Scored {
  if (continua.length === 0) return start;
  const place = Float64Array.from(start.place);
  const meanSlope = new Float64Array(axes.length);
  const deviationSlope = new Float64Array(axes.length);
  const at = Float64Array.from(continua, (axis) => place[axis] as number);
  const slope = (coordinates: Float64Array, gradient: Float64Array): number => {
    for (const [i, axis] of continua.entries()) place[axis] = coordinates[i] as number;
    if (settle([...place]) === null) return Number.POSITIVE_INFINITY;
    const moments = process.slopesAt(place, meanSlope, deviationSlope);
    const { byMean, byDeviation } = improvementSlopes(moments, best);
    for (const [i, axis] of continua.entries()) {
      const mean = byMean * (meanSlope[axis] as number);
      gradient[i] = 0 - mean - byDeviation * (deviationSlope[axis] as number);
    }
    return 0 - logImprovement(moments, best);
  };
  const gain = 0 - descend(slope, at, BOX, stepsMax, TOLERANCE);
  for (const [i, axis] of continua.entries()) place[axis] = at[i] as number;
  return gain > start.gain ? { place: [...place], gain } : start;
}

/** Moves along one axis of cells at a time, to its best choice or its best nearby cell. */
function climbCells({ process, best, settle, axes }: Searched, start: Scored): Scored {
  let at = start;
  for (const [axis, { cells, categorical }] of axes.entries()) {
    if (cells === 0) continue;
    for (const cell of cellsAbout(at.place[axis] as number, cells, categorical)) {
      const place = at.place.with(axis, (cell + 0.5) / cells);
      const gain = logImprovement(process.at(Float64Array.from(place)), best);
      if (gain > at.gain && settle(place) !== null) at = { place, gain };
    }
  }
  return at;
}

const STRIDES = [1, 2, 4, 8, 16, 32, 64];
/** The most choices of an axis that one step tries; of more choices it tries this many, evenly spread. */
const CHOICES_MAX = 64;

function cellsAbout(at: number, cells: number, categorical: boolean): readonly number[] {
  const own = Math.floor(at * cells);
  if (categorical) {
    const count = Math.min(cells, CHOICES_MAX);
    return Array.from({ length: count }, (_, i) => (own + Math.floor((i * cells) / count)) % cells);
  }
  return STRIDES.flatMap((stride) => [own - stride, own + stride]).filter(
    (cell) => cell >= 0 && cell < cells,
  );
}
