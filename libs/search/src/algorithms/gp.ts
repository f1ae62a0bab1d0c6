/**
 * Bayesian optimisation by a Gaussian process (`gp/model.ts`) and expected improvement (D. R. Jones, M. Schonlau,
 * W. J. Welch, 1998). The first trials fill the space (a Sobol sequence) until max(8, 2 d) have ended. A trial that runs
 * stands in with the mean that the model expects of it (the "kriging believer": D. Ginsbourger, R. Le Riche, L. Carraro,
 * 2010), so that nothing is waited for and no two trials run at one place. Of more than 150 results the best 75 and the
 * newest of the others are learned from; the lengths are fitted to 60 of them.
 *
 * The model is made at each decision and takes some tens of milliseconds, which is nothing beside a trial of a minute; a
 * search of many short trials is better served by `tpe`.
 */
import { draw } from "@trainyard/kernel";
import type { ProposedPoint } from "../algorithm.ts";
import { coordinatesOf, isDiscrete, placeOf, pointAt } from "../axes.ts";
import { normalQuantile } from "../normal.ts";
import { allowedCoordinates } from "../space-rules/places.ts";
import type { RunningSearch } from "../state.ts";
import { bestPlace, type SearchedAxis } from "./gp/improvement.ts";
import { type Learned, learnedFrom } from "./gp/inputs.ts";
import { fitted, Process } from "./gp/model.ts";
import { modelBased } from "./model-based.ts";
import { axesOfPlan, modelMemory } from "./model-memory.ts";
import { sobolPoints } from "./sobol.ts";

const STARTUP_MIN = 8;
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

export const gp = modelBased("gp", nextPoint);

/** The point of the next trial; its place is added to those that are proposed together. */
function nextPoint(
  search: RunningSearch,
  trial: number,
  more: (readonly number[])[],
): ProposedPoint {
  const { space } = search.plan;
  const axes = axesOfPlan(search.plan);
  const filling = sobolPoints(search.plan)(trial);
  const enough = modelMemory(search.memory).ended >= Math.max(STARTUP_MIN, 2 * axes.length);
  const learned = enough && axes.length > 0 ? learnedFrom(search) : null;
  const place = learned === null ? null : suggested(search, trial, learned, more);
  const point: ProposedPoint =
    place === null ? filling : { hyperparameters: pointAt(space, place), origin: "model" };
  more.push(coordinatesOf(axes, placeOf(axes, point.hyperparameters)));
  return point;
}

function suggested(
  search: RunningSearch,
  trial: number,
  { inputs, values, pending }: Learned,
  more: readonly (readonly number[])[],
): readonly number[] | null {
  const axes = axesOfPlan(search.plan).map(
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
  const running = [...pending, ...more];
  const process = new Process(shape, parameters, inputs.length + running.length);
  process.see(inputs, values);
  let best = values[order[0] ?? 0] ?? 0;
  for (const input of running) {
    const { mean } = process.at(input);
    process.see([input], [mean]);
    best = Math.min(best, mean);
  }
  const centres = order.slice(0, CENTRES).map((i) => inputs[i] ?? []);
  const settled = (input: readonly number[]): readonly number[] | null =>
    allowedCoordinates(search.plan, axesOfPlan(search.plan), input);
  const taken = (input: readonly number[]): boolean =>
    settled(input) === null ||
    running.some((other) => input.every((x, axis) => Math.abs(x - (other[axis] ?? 0)) < SAME));
  const candidates = candidatesOf(search, trial, axes, centres).flatMap((input) => {
    const allowed = settled(input);
    return allowed === null ? [] : [allowed];
  });
  return bestPlace(process, axes, best, candidates, taken);
}

/** Places drawn over the whole box, and normally about the best results. */
function candidatesOf(
  search: RunningSearch,
  trial: number,
  axes: readonly SearchedAxis[],
  centres: readonly (readonly number[])[],
): readonly (readonly number[])[] {
  const { seed } = search.plan;
  const streams = axesOfPlan(search.plan).map(({ path }) => `gp/${path}`);
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
