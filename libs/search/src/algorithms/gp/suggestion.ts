/** The slow part of a search by a Gaussian process: from what is known of the trials so far to a point for the next. */
import { draw } from "@trainyard/kernel";
import type { Question, Suggestion } from "../../algorithm.ts";
import { isDiscrete, pointAt } from "../../axes.ts";
import { exp } from "../../math.ts";
import { normalQuantile } from "../../normal.ts";
import { allowedCoordinates } from "../../space-rules/places.ts";
import type { SearchPlan } from "../../state.ts";
import { axesOfPlan } from "../model-memory.ts";
import { sobolPoints } from "../sobol.ts";
import { bestPlace, logImprovement, type SearchedAxis } from "./improvement.ts";
import type { Learned } from "./inputs.ts";
import { fitted, Process } from "./model.ts";

/** Candidates over the whole box, and about each of the best results. */
const WIDE = 256;
const NEAR = 32;
const CENTRES = 4;
const CANDIDATES = WIDE + NEAR * CENTRES;
/** The spread of candidates about a result, the shorter the later. */
const SPREADS = [0.2, 0.05, 0.01, 0.002];
/** Results that the lengths are fitted to. */
const FITTED_MAX = 60;
/** Two places nearer than this on every axis are one. */
const SAME = 1e-3;

export function suggestionFor({
  plan,
  trial,
  searchVersion,
  results,
  known,
}: Question): Suggestion {
  const { inputs, values, pending, centre, spread } = known as Learned;
  const suggestion = { trial, searchVersion, results };
  const axes = axesOfPlan(plan).map(
    (axis): SearchedAxis => ({
      cells: isDiscrete(axis) ? axis.cells : 0,
      categorical: axis.hyperparameter.type === "categorical",
    }),
  );
  const shape = { categorical: axes.map(({ categorical }) => categorical) };
  const order = values
    .map((_, i) => i)
    .sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0) || a - b);
  const telling = order.slice(0, FITTED_MAX / 2);
  telling.push(
    ...order
      .slice(FITTED_MAX / 2)
      .sort((a, b) => b - a)
      .slice(0, FITTED_MAX / 2),
  );
  const parameters = fitted(
    shape,
    telling.map((i) => inputs[i] ?? []),
    telling.map((i) => values[i] ?? 0),
  );
  const process = new Process(shape, parameters, inputs.length + pending.length);
  process.see(inputs, values);
  let best = values[order[0] ?? 0] ?? 0;
  for (const input of pending) {
    const { mean } = process.at(input);
    process.see([input], [mean]);
    best = Math.min(best, mean);
  }
  const centres = order.slice(0, CENTRES).map((i) => inputs[i] ?? []);
  const settled = (input: readonly number[]): readonly number[] | null =>
    allowedCoordinates(plan, axesOfPlan(plan), input);
  const refused = (input: readonly number[]): boolean => settled(input) === null;
  const taken = (input: readonly number[]): boolean =>
    refused(input) ||
    pending.some((other) => input.every((x, axis) => Math.abs(x - (other[axis] ?? 0)) < SAME));
  const candidates = candidatesOf(plan, trial, axes, centres).flatMap((input) => {
    const allowed = settled(input);
    return allowed === null ? [] : [allowed];
  });
  const place =
    bestPlace(process, axes, best, candidates, taken) ??
    bestPlace(process, axes, best, candidates, refused);
  if (place === null) return { ...suggestion, ...sobolPoints(plan)(trial), evidence: {} };
  const { mean, deviation } = process.at(place);
  const sign = plan.smallerIsBetter ? 1 : -1;
  const evidence = {
    mean: sign * (mean * spread + centre),
    deviation: deviation * spread,
    expected_improvement: exp(logImprovement(mean, deviation, best)) * spread,
  };
  return { ...suggestion, hyperparameters: pointAt(plan.space, place), origin: "model", evidence };
}

/** Places drawn over the whole box, and normally about the best results. */
function candidatesOf(
  plan: SearchPlan,
  trial: number,
  axes: readonly SearchedAxis[],
  centres: readonly (readonly number[])[],
): readonly (readonly number[])[] {
  const { seed } = plan;
  const streams = axesOfPlan(plan).map(({ path }) => `gp/${path}`);
  return Array.from({ length: WIDE + NEAR * centres.length }, (_, i) => {
    const centre = i < WIDE ? undefined : centres[Math.floor((i - WIDE) / NEAR)];
    const spread = SPREADS[i % SPREADS.length] ?? 1;
    return axes.map((axis, index) => {
      const share = draw(seed, streams[index] ?? "", trial * CANDIDATES + i);
      const about = centre?.[index];
      const at = about === undefined ? share : near(axis, about, spread, share);
      return onAxis(axis, at);
    });
  });
}

function near({ categorical }: SearchedAxis, about: number, spread: number, share: number): number {
  // One time in five another choice.
  if (categorical) return share < 0.8 ? about : (share - 0.8) * 5;
  return about + spread * normalQuantile(Math.max(1e-9, share));
}

/** The place on the axis: inside, and the middle of a cell. */
function onAxis({ cells }: SearchedAxis, at: number): number {
  const inside = Math.min(1 - 2 ** -53, Math.max(0, at));
  return cells === 0 ? inside : (Math.floor(inside * cells) + 0.5) / cells;
}
