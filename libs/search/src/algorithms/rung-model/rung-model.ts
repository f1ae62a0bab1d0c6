/**
 * A model of one rung: a tree of Parzen estimators (J. Bergstra et al., 2011), fitted to one rung as in BOHB (S.
 * Falkner, A. Klein, F. Hutter, ICML 2018).
 *
 * It has two densities over the space: one of the best trials that have reached the rung, and one of the others. The
 * next trial is, among places drawn from the first density, the place with the largest ratio of the first to the
 * second. A model of trials stopped at different times would prefer those that merely continued. A share of the trials
 * is drawn at random, and so are all trials while too few have reached a rung.
 *
 * Trials of earlier searches are a separate group: their best share counts as good, the rest as the others. Their
 * values are therefore never compared with values at another time, and with enough of them the first trials follow them
 * alone.
 */
import { draw } from "@trainyard/kernel";
import type { ProposedPoint } from "../../algorithm.ts";
import { type Axis, axesOfPlan, coordinatesOf, pointAt } from "../../space/axes.ts";
import { type Halving, unitsOf } from "../../halving/state.ts";
import type { Proposer } from "../../halving/proposer.ts";
import { warmStartTrials, pointOfTrial } from "../../space/points.ts";
import { allowedPlace } from "../../space/rules/places.ts";
import type { SearchPlan } from "../../state.ts";
import { earlierPlaces } from "./earlier-places.ts";
import { densityAt, densityOf, placeFrom, type Sample } from "./density.ts";

export type RungModel = {
  /** The name of the model, which prefixes its streams of random draws. */
  readonly name: string;
  /**
   * Returns the rung that the model uses, with its trials, the best first; null while too few trials have reached one.
   */
  readonly restsOn: (halving: Halving, axes: number) => Ranked | null;
  /** The share of trials that are drawn at random. */
  readonly drawnShare: number;
  /** The share of the rung's trials that count as good, with a minimum and a maximum number. */
  readonly good: {
    readonly share: number;
    readonly min: (axes: number) => number;
    readonly max: number;
  };
  /** Whether all other trials count as the others, or only those at the rung. */
  readonly othersAreAll: boolean;
  readonly candidates: number;
  /** The factor by which the kernels that draw candidates are wider than the kernels that judge them. */
  readonly widening: number;
  readonly widthOf: (coordinates: readonly number[]) => number;
  readonly widthMin: number;
};

export type Ranked = {
  readonly rung: number;
  readonly count: number;
  readonly trials: Iterable<number>;
};

/**
 * The most trials besides the good ones that the model is made from. If a search has more, half of this number are the
 * newest trials, and the other half represent the older ones.
 */
const OTHERS_MAX = 1_000;

export function rungProposer(model: RungModel): Proposer {
  return (plan, halving, trial, more) => {
    const byChance = pointOfTrial(plan, trial);
    if (trial <= warmStartTrials(plan)) return byChance;
    const axes = axesOfPlan(plan);
    if (axes.length === 0) return byChance;
    const ranked = model.restsOn(halving, axes.length);
    const enoughEarlier = plan.earlier.length >= axes.length + EARLIER_MIN;
    if (ranked === null && !enoughEarlier) return byChance;
    if (draw(plan.seed, `${model.name}/by-chance`, trial) < model.drawnShare) return byChance;
    return suggested(model, plan, halving, { trial, ranked, axes, more }) ?? byChance;
  };
}

/** The first trials follow earlier trials if these outnumber the axes by at least this. */
const EARLIER_MIN = 2;

type Asked = {
  readonly trial: number;
  /** The rung and its trials; null if only trials of earlier searches have values. */
  readonly ranked: Ranked | null;
  readonly axes: readonly Axis[];
  readonly more: readonly (readonly number[])[];
};

/** Returns the suggested place; null if the constraints refuse every candidate. */
function suggested(
  model: RungModel,
  plan: SearchPlan,
  halving: Halving,
  { trial, ranked, axes, more }: Asked,
): ProposedPoint | null {
  const known = ranked ?? { rung: 0, count: 0, trials: [] };
  const own = split(model, halving, known, axes.length, more);
  const { good, others } = withEarlier(model, own, earlierPlaces(plan), axes.length);
  const l = densityOf(axes, good, model.widthOf, model.widthMin);
  const g = densityOf(axes, others, model.widthOf, model.widthMin);
  const streams = [model.name, ...axes.map(({ path }) => `${model.name}/${path}`)];
  let best: readonly number[] | null = null;
  let bestRatio = Number.NEGATIVE_INFINITY;
  for (let candidate = 0; candidate < model.candidates; candidate += 1) {
    const counter = trial * model.candidates + candidate;
    const drawn = placeFrom(l, model.widening, (i) => draw(plan.seed, streams[i] ?? "", counter));
    const place = allowedPlace(plan, axes, drawn);
    if (place === null) continue;
    const ratio = densityAt(l, place) / densityAt(g, place);
    if (ratio > bestRatio) [best, bestRatio] = [place, ratio];
  }
  if (best === null) return null;
  const { rung, count } = known;
  const evidence = {
    rung,
    units: unitsOf(halving, 0, rung),
    results: count,
    ...(plan.earlier.length === 0 ? {} : { earlier: plan.earlier.length }),
    good: good.places.length,
    ratio: bestRatio,
  };
  return {
    hyperparameters: pointAt(plan.space, coordinatesOf(axes, best)),
    origin: "model",
    evidence,
  };
}

type Parted = { readonly good: Sample; readonly others: Sample };

function withEarlier(
  { good: { share, min, max } }: RungModel,
  { good, others }: Parted,
  earlier: readonly (readonly number[])[],
  axes: number,
): Parted {
  if (earlier.length === 0) return { good, others };
  const most = Math.min(max, Math.max(min(axes), Math.ceil(share * earlier.length)));
  const all = (sample: Sample, more: readonly (readonly number[])[]): Sample => ({
    places: [...more, ...sample.places],
    weights: [...more.map(() => 1), ...sample.weights],
  });
  return { good: all(good, earlier.slice(0, most)), others: all(others, earlier.slice(most)) };
}

function split(
  { good: { share, min, max }, othersAreAll }: RungModel,
  { coordinates }: Halving,
  { count, trials }: Ranked,
  axes: number,
  more: readonly (readonly number[])[],
): Parted {
  const most = Math.min(max, Math.max(min(axes), Math.ceil(share * count)));
  const good: number[] = [];
  const rest: number[] = [];
  for (const trial of trials) {
    if (good.length < most) good.push(trial);
    else if (othersAreAll) break;
    else rest.push(trial);
  }
  const isGood = new Set(good);
  const all = othersAreAll ? allBut(isGood, coordinates.length) : rest;
  const chosen = represented(all);
  const placesOf = (numbers: readonly number[]): (readonly number[])[] =>
    numbers.map((trial) => coordinates[trial - 1] ?? []);
  return {
    good: { places: placesOf(good), weights: good.map(() => 1) },
    others: {
      places: [...placesOf(chosen.trials), ...more],
      weights: [...chosen.weights, ...more.map(() => 1)],
    },
  };
}

function allBut(some: ReadonlySet<number>, count: number): readonly number[] {
  const others: number[] = [];
  for (let trial = 1; trial <= count; trial += 1) if (!some.has(trial)) others.push(trial);
  return others;
}

function represented(trials: readonly number[]): {
  readonly trials: readonly number[];
  readonly weights: readonly number[];
} {
  if (trials.length <= OTHERS_MAX) return { trials, weights: trials.map(() => 1) };
  const half = OTHERS_MAX / 2;
  const older = trials.length - half;
  const chosen = Array.from(
    { length: half },
    (_, i) => trials[Math.floor(((i + 0.5) * older) / half)] ?? 1,
  );
  return {
    trials: [...chosen, ...trials.slice(older)],
    weights: Array.from({ length: OTHERS_MAX }, (_, i) => (i < half ? older / half : 1)),
  };
}
