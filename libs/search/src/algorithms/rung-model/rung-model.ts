/**
 * A model of one rung: two densities over the space, of the best of the trials that have reached it and of others, and
 * the next trial is where the first is largest against the second, among places drawn from the first (a tree of Parzen
 * estimators, J. Bergstra et al., 2011, fitted to one rung as in BOHB: S. Falkner, A. Klein, F. Hutter, ICML 2018). A
 * model of what was stopped at different times would prefer those that merely continued. A share of the trials is drawn
 * at random all the same, and so are all while too few have reached a rung.
 *
 * Trials of earlier searches are a group of their own: the best share of them is among the good, the rest among the
 * others. So their values are compared with none of another time, and with enough of them the first trials follow them
 * alone.
 */
import { draw } from "@trainyard/kernel";
import type { ProposedPoint } from "../../algorithm.ts";
import { type Axis, axesOfPlan, coordinatesOf, pointAt } from "../../space/axes.ts";
import { type Halving, unitsOf } from "../../halving/state.ts";
import type { Proposer } from "../../halving/proposer.ts";
import { givenTrials, pointOfTrial } from "../../space/points.ts";
import { allowedPlace } from "../../space/rules/places.ts";
import type { SearchPlan } from "../../state.ts";
import { earlierPlaces } from "./earlier-places.ts";
import { densityAt, densityOf, placeFrom, type Sample } from "./density.ts";

export type RungModel = {
  /** The prefix of its streams of draws. */
  readonly name: string;
  /** The rung that it depends on, and the trials there, the best first; null while too few have come. */
  readonly restsOn: (halving: Halving, axes: number) => Ranked | null;
  /** The share of trials that are drawn at random. */
  readonly drawnShare: number;
  /** The share of the trials at the rung that are good, and how many at least and at most. */
  readonly good: {
    readonly share: number;
    readonly min: (axes: number) => number;
    readonly max: number;
  };
  /** Whether the others are all other trials, or those at the rung alone. */
  readonly othersAreAll: boolean;
  readonly candidates: number;
  /** The factor by which the kernels that candidates are drawn from are wider than those that judge them. */
  readonly widening: number;
  readonly widthOf: (coordinates: readonly number[]) => number;
  readonly widthMin: number;
};

export type Ranked = {
  readonly rung: number;
  readonly count: number;
  readonly trials: Iterable<number>;
};

/** More trials than this are represented by the newest half of it and as many of the older. */
const OTHERS_MAX = 1_000;

export function rungProposer(model: RungModel): Proposer {
  return (plan, halving, trial, more) => {
    const byChance = pointOfTrial(plan, trial);
    if (trial <= givenTrials(plan)) return byChance;
    const axes = axesOfPlan(plan);
    if (axes.length === 0) return byChance;
    const ranked = model.restsOn(halving, axes.length);
    const enoughEarlier = plan.earlier.length >= axes.length + EARLIER_MIN;
    if (ranked === null && !enoughEarlier) return byChance;
    if (draw(plan.seed, `${model.name}/by-chance`, trial) < model.drawnShare) return byChance;
    return suggested(model, plan, halving, { trial, ranked, axes, more }) ?? byChance;
  };
}

/** Earlier trials beyond the number of axes that the first trials follow. */
const EARLIER_MIN = 2;

type Asked = {
  readonly trial: number;
  /** Null where only trials of earlier searches have values. */
  readonly ranked: Ranked | null;
  readonly axes: readonly Axis[];
  readonly more: readonly (readonly number[])[];
};

/** Null where the constraints refuse every candidate. */
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
