/**
 * The grid of a space: the product of the axes, without points that the constraints refuse, and without axes whose
 * condition is false.
 *
 * A grid without conditions and constraints is counted, not walked. Any other is walked in the order of sorted keys,
 * except that a hyperparameter comes after those that its condition names. A branch that a constraint already refuses
 * is skipped.
 */
import {
  gridAxisLength,
  gridSize,
  type HyperparameterSpace,
  isConditional,
  isTyped,
  type JsonObject,
  type TypedHyperparameter,
} from "@trainyard/experiment-config";
import { derivedFrom } from "../../derived.ts";
import { searchLimits } from "../../limits.ts";
import type { SearchedSpace } from "../../state.ts";
import { axisValue, gridPoint, pointOf, sortedNodes } from "../space.ts";
import { areMet, type Parent, parentsOf, putAtKeys, removeAtKeys } from "./conditions.ts";
import { constraintChars, isAllowed, isConstrained } from "./constraints.ts";

export type Grid = {
  readonly size: number;
  /** Whether the whole grid was walked; an incomplete one is refused. */
  readonly complete: boolean;
  /** Returns point number `index`, 0 ≤ index < size. */
  readonly pointAt: (index: number) => JsonObject;
};

export function gridOf(searched: SearchedSpace): Grid {
  return derivedFrom(searched, madeGrid);
}

function madeGrid(searched: SearchedSpace): Grid {
  const { space } = searched;
  if (!isConditional(space) && !isConstrained(searched)) {
    return { size: gridSize(space), complete: true, pointAt: (index) => gridPoint(space, index) };
  }
  return walked(searched);
}

type Axis = {
  readonly name: string;
  readonly keys: readonly string[];
  readonly hyperparameter: TypedHyperparameter;
  readonly parents: readonly Parent[];
  readonly length: number;
};

const nameOf = (keys: readonly string[]): string => JSON.stringify(keys);

function walked(searched: SearchedSpace): Grid {
  const axes = parentsFirst(axesIn(searched.space, []));
  const { found, complete } = new Walk(searched, axes).whole();
  const places = new Map(axes.map(({ name }, place) => [name, place]));
  return {
    size: found.length,
    complete,
    pointAt: (index) =>
      pointOf(searched.space, (hyperparameter, _path, keys) => {
        const place = places.get(nameOf(keys)) ?? 0;
        const step = found[index]?.[place] ?? 0;
        return axisValue(hyperparameter, step, gridAxisLength(hyperparameter));
      }),
  };
}

/** Constraints of this length take about as long as the rest of a step. */
const SHORT_CHARS = 200;

/** The most steps of a walk; longer constraints make each step slower. */
function stepsMax(searched: SearchedSpace): number {
  const chars = Math.max(SHORT_CHARS, constraintChars(searched));
  return Math.floor((searchLimits.gridStepsMax * SHORT_CHARS) / chars);
}

class Walk {
  readonly #searched: SearchedSpace;
  readonly #axes: readonly Axis[];
  readonly #found: number[][] = [];
  readonly #point: JsonObject = {};
  readonly #chosen: number[] = [];
  readonly #most: number;
  #steps = 0;

  constructor(searched: SearchedSpace, axes: readonly Axis[]) {
    this.#searched = searched;
    this.#axes = axes;
    this.#most = stepsMax(searched);
  }

  /** Returns each point as the value's index on each axis, 0 if the axis is absent. */
  whole(): { readonly found: readonly (readonly number[])[]; readonly complete: boolean } {
    this.#from(0);
    return { found: this.#found, complete: this.#steps <= this.#most };
  }

  #from(depth: number): void {
    const axis = this.#axes[depth];
    if (axis === undefined) {
      this.#found.push([...this.#chosen]);
      return;
    }
    const there = areMet(axis.parents, this.#point);
    for (let step = 0; step < (there ? axis.length : 1); step += 1) {
      this.#steps += 1;
      if (this.#steps > this.#most) return;
      this.#chosen[depth] = step;
      if (there) {
        putAtKeys(this.#point, axis.keys, axisValue(axis.hyperparameter, step, axis.length));
      }
      // A hyperparameter without a value counts as absent: a constraint that is broken now remains broken.
      if (isAllowed(this.#searched, this.#point)) this.#from(depth + 1);
    }
    if (there) removeAtKeys(this.#point, axis.keys);
  }
}

function axesIn(space: HyperparameterSpace, around: readonly string[]): readonly Axis[] {
  return sortedNodes(space).flatMap(([key, node]) => {
    const keys = [...around, key];
    if (!isTyped(node)) return axesIn(node, keys);
    const length = gridAxisLength(node);
    return [{ name: nameOf(keys), keys, hyperparameter: node, parents: parentsOf(node), length }];
  });
}

function parentsFirst(axes: readonly Axis[]): readonly Axis[] {
  const left = new Map(axes.map((axis) => [axis.name, axis]));
  const ordered: Axis[] = [];
  const place = (axis: Axis): void => {
    if (!left.delete(axis.name)) return;
    for (const { keys } of axis.parents) {
      const parent = left.get(nameOf(keys));
      if (parent !== undefined) place(parent);
    }
    ordered.push(axis);
  };
  for (const axis of axes) place(axis);
  return ordered;
}
