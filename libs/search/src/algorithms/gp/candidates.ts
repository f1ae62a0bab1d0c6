/** The candidates at which the expected improvement is computed: over the whole box, and around the best results. */
import { draw } from "@trainyard/kernel";
import { normalQuantile } from "../../numeric/normal.ts";
import { axesOfPlan } from "../../space/axes.ts";
import type { SearchPlan } from "../../state.ts";
import {
  type SobolDimension,
  scrambled,
  sobolCoordinate,
  sobolDimension,
  sobolDimensionsMax,
} from "../sobol/sequence.ts";
import type { SearchedAxis } from "./best-place.ts";

/** The number of candidates over the whole box. */
const WIDE = 1024;
/** The number of candidates around each of the best results. */
const NEAR = 48;
const CENTRES = 4;
const NEAR_ALL = NEAR * CENTRES;
/** The standard deviations of candidates around a result, in sides of the box. */
const SPREADS = [0.2, 0.05, 0.01, 0.002];

type Places = readonly (readonly number[])[];

/** Candidates from the trial's own part of a Sobol sequence. */
export function wideCandidates(
  plan: SearchPlan,
  trial: number,
  axes: readonly SearchedAxis[],
): Places {
  const wide = wideAxes(plan);
  const places: (readonly number[])[] = [];
  for (let i = 0; i < WIDE; i += 1) {
    const index = (trial * WIDE + i) % 2 ** 31;
    places.push(axes.map((axis, j) => onAxis(axis, wide[j]?.(index) ?? 0)));
  }
  return places;
}

/** Candidates around the best results; `best` are the inputs of these, the best first. */
export function nearCandidates(
  plan: SearchPlan,
  trial: number,
  axes: readonly SearchedAxis[],
  best: Places,
): Places {
  const near = axesOfPlan(plan).map(({ path }) => `gp/${path}`);
  const places: (readonly number[])[] = [];
  for (const [rank, centre] of best.slice(0, CENTRES).entries()) {
    for (let i = 0; i < NEAR; i += 1) {
      const counter = trial * NEAR_ALL + rank * NEAR + i;
      const spread = SPREADS[i % SPREADS.length] as number;
      places.push(
        axes.map((axis, j) => {
          const share = draw(plan.seed, near[j] ?? "", counter);
          return onAxis(axis, nearby(axis, centre[j] ?? 0, spread, share));
        }),
      );
    }
  }
  return places;
}

function wideAxes(plan: SearchPlan): readonly ((index: number) => number)[] {
  return axesOfPlan(plan).map(({ path }, axis) => {
    const stream = `gp-wide/${path}`;
    if (axis >= sobolDimensionsMax) return (index) => draw(plan.seed, stream, index);
    const dimension: SobolDimension = scrambled(sobolDimension(axis), plan.seed, stream);
    return (index) => sobolCoordinate(dimension, index) / 2 ** 32;
  });
}

function nearby(
  { categorical }: SearchedAxis,
  about: number,
  spread: number,
  share: number,
): number {
  // One time in five, a random choice replaces that of the best result.
  if (categorical) return share < 0.8 ? about : (share - 0.8) * 5;
  return about + spread * normalQuantile(Math.max(1e-9, share));
}

/** Maps a coordinate into the axis, and to the middle of a cell if the axis has cells. */
function onAxis({ cells }: SearchedAxis, at: number): number {
  const inside = Math.min(1 - 2 ** -53, Math.max(0, at));
  return cells === 0 ? inside : (Math.floor(inside * cells) + 0.5) / cells;
}
