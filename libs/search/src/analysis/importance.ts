/**
 * How much each hyperparameter matters for being among the best trials: PED-ANOVA (S. Watanabe, A. Bansal, F. Hutter,
 * "PED-ANOVA: efficiently quantifying hyperparameter importance in arbitrary subspaces", IJCAI 2023). Of each axis the
 * density of the best tenth of the trials (five at least) is compared with that of all of them, by the Pearson
 * divergence E[(top / all - 1)²] under the latter; so where a searcher sampled densely does not count, only where the
 * good ones are among what was sampled. The divergences are then scaled to the sum of 1.
 *
 * Each axis is looked at alone: of two that matter only together it sees little. A trial counts with its best value,
 * so one that was stopped early counts as it was then.
 */
import { type Axis, axesOf, isDiscrete, placeOf } from "../space/axes.ts";
import { normalProbability } from "../numeric/normal.ts";
import type { SearchRecord, TrialRecord } from "./record.ts";

/** Fewer trials than this say nothing: a tenth of them would be two or three. */
const TRIALS_MIN = 20;
/** With more axes than a third of the trials some axis separates the best by chance. */
const TRIALS_PER_AXIS = 3;
const TOP_SHARE = 0.1;
const TOP_MIN = 5;
/** Cells in which a continuous axis is looked at. */
const CELLS = 50;

export type Importance = {
  /** Where it is in the hyperparameters: `optimizer.lr`. */
  readonly hyperparameter: string;
  /** 0 to 1; all of them sum to 1, or are 0 where the best trials are spread as all are. */
  readonly importance: number;
};

export type Importances = {
  /** Trials that have a value. */
  readonly trials: number;
  /** Trials that it takes. */
  readonly needed: number;
  /** How many of them were taken for the best. */
  readonly top: number;
  /** The most important first; empty where there are too few trials. */
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

/** The Pearson divergence of the best from all, over the cells of an axis. */
function divergenceOf(axis: Axis, ranked: readonly TrialRecord[], top: number): number {
  const places = ranked.map(({ hyperparameters }) => placeOf([axis], hyperparameters)[0] ?? 0);
  const best = massesOf(axis, places.slice(0, top));
  const all = massesOf(axis, places);
  return all.reduce((sum, mass, cell) => {
    const excess = (best[cell] ?? 0) / mass - 1;
    return sum + mass * excess * excess;
  }, 0);
}

/** The mass of each cell: a kernel for each place, and one for the even prior, which keeps every cell above 0. */
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
 * The bandwidth for a normal density of this spread (D. W. Scott, "Multivariate density estimation", 1992), robustly.
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
