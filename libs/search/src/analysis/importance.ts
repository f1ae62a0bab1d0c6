/**
 * The importance of each hyperparameter for being among the best trials: PED-ANOVA (S. Watanabe, A. Bansal, F. Hutter,
 * "PED-ANOVA: efficiently quantifying hyperparameter importance in arbitrary subspaces", IJCAI 2023).
 *
 * On each axis the density of the best tenth of the trials (at least five) is compared with the density of all trials,
 * by the Pearson divergence E[(top / all - 1)²] under the latter. So the result does not depend on where the searcher
 * sampled densely, only on where the best trials are among the sampled ones. The divergences are scaled to the sum 1.
 *
 * Each axis is compared alone, so the importance of two axes that matter only together is underestimated. A trial
 * counts with its best value, even if it was stopped early.
 */
import { type Axis, axesOf, isDiscrete, placeOf } from "../space/axes.ts";
import { normalProbability } from "../numeric/normal.ts";
import type { SearchRecord, TrialRecord } from "./record.ts";

/** The least number of trials: a tenth of fewer would be only one or two. */
const TRIALS_MIN = 20;
/** The least number of trials per axis: with more axes, some axis separates the best trials by chance. */
const TRIALS_PER_AXIS = 3;
const TOP_SHARE = 0.1;
const TOP_MIN = 5;
/** The number of cells into which a continuous axis is divided. */
const CELLS = 50;

export type Importance = {
  /** The path of the hyperparameter, like `optimizer.lr`. */
  readonly hyperparameter: string;
  /** From 0 to 1; the sum is 1, or 0 if the best trials are distributed like all trials. */
  readonly importance: number;
};

export type Importances = {
  /** The number of trials with a value. */
  readonly trials: number;
  /** The number of trials that the analysis needs. */
  readonly needed: number;
  /** The number of trials that count as the best. */
  readonly top: number;
  /** The hyperparameters, the most important first; empty with too few trials. */
  readonly items: readonly Importance[];
};

export function importancesOf(record: SearchRecord): Importances {
  const axes = axesOf(record.space);
  const sign = record.smallerIsBetter ? 1 : -1;
  const valued = record.trials.filter(({ best, counts }) => best !== null && counts);
  const ranked = valued.sort((a, b) => sign * ((a.best ?? 0) - (b.best ?? 0)) || a.trial - b.trial);
  const trials = ranked.length;
  const needed = Math.max(TRIALS_MIN, TRIALS_PER_AXIS * axes.length);
  const top = Math.max(TOP_MIN, Math.ceil(trials * TOP_SHARE));
  if (trials < needed) return { trials, needed, top: 0, items: [] };
  const divergences = axes.map((axis) => divergenceOf(axis, ranked, top));
  const sum = divergences.reduce((total, divergence) => total + divergence, 0);
  const items = axes.map(({ keys }, i) => ({
    hyperparameter: keys.join("."),
    importance: sum === 0 ? 0 : (divergences[i] ?? 0) / sum,
  }));
  return { trials, needed, top, items: items.sort((a, b) => b.importance - a.importance) };
}

/** Returns the Pearson divergence of the best trials from all trials, over the cells of an axis. */
function divergenceOf(axis: Axis, ranked: readonly TrialRecord[], top: number): number {
  const places = ranked.map(({ hyperparameters }) => placeOf([axis], hyperparameters)[0] ?? 0);
  const best = massesOf(axis, places.slice(0, top));
  const all = massesOf(axis, places);
  return all.reduce((sum, mass, cell) => {
    const excess = (best[cell] ?? 0) / mass - 1;
    return sum + mass * excess * excess;
  }, 0);
}

/** Returns the mass of each cell from a kernel per place and the uniform prior, which keeps every cell above 0. */
function massesOf(axis: Axis, places: readonly number[]): number[] {
  const cells = isDiscrete(axis) ? axis.cells : CELLS;
  const masses = Array.from({ length: cells }, () => 1 / cells);
  if (axis.hyperparameter.type === "categorical") {
    for (const place of places) masses[place] = (masses[place] ?? 0) + 1;
  } else {
    const at = places.map((place) => (isDiscrete(axis) ? (place + 0.5) / cells : place));
    const width = Math.max(scottWidth(at), 0.5 / cells);
    for (const middle of at) addKernel(masses, middle, width);
  }
  return masses.map((mass) => mass / (places.length + 1));
}

function addKernel(masses: number[], middle: number, width: number): void {
  const below = (edge: number): number => normalProbability((edge - middle) / width);
  const inside = below(1) - below(0);
  let before = below(0);
  for (const [cell, mass] of masses.entries()) {
    const after = below((cell + 1) / masses.length);
    masses[cell] = mass + (after - before) / inside;
    before = after;
  }
}

/**
 * Returns Scott's bandwidth for a normal density (D. W. Scott, "Multivariate density estimation", 1992), with a robust
 * estimate of the spread.
 */
function scottWidth(at: readonly number[]): number {
  const count = at.length;
  const mean = at.reduce((sum, x) => sum + x, 0) / count;
  const variance = at.reduce((sum, x) => sum + (x - mean) * (x - mean), 0) / Math.max(1, count - 1);
  const sorted = [...at].sort((a, b) => a - b);
  const quartile = (share: number): number => sorted[Math.floor(share * (count - 1))] ?? 0;
  const robust = (quartile(0.75) - quartile(0.25)) / 1.34;
  const deviation = Math.sqrt(variance);
  const spread = robust > 0 ? Math.min(deviation, robust) : deviation;
  return 1.059 * spread * count ** -0.2;
}
