/**
 * A table of trainings: a row per configuration, with its metric after each step, so that a search against the table
 * trains nothing. A trial with drawn hyperparameters gets a random unused row. Any other proposal gets the nearest
 * unused row, by distance in the scaled space, where different choices have distance 1.
 */
import type { HyperparameterSpace, Json, JsonObject } from "@trainyard/experiment-config";
import { assert, draw, drawInteger } from "@trainyard/kernel";
import { type Derived, derivedFrom } from "../derived.ts";
import { type Axis, axesOf, coordinatesOf, placeOf } from "../space/axes.ts";
import { log } from "../numeric/math.ts";

export type Table = {
  readonly name: string;
  readonly space: HyperparameterSpace;
  readonly rows: readonly JsonObject[];
  /** The number of steps of one full training. */
  readonly steps: number;
  readonly smallerIsBetter: boolean;
  /** The metric of a row after a step, from 1; a value that is not finite means that the training diverged. */
  readonly valueAt: (row: number, step: number) => number;
  /** Values derived from the rows. */
  readonly derived?: Derived;
};

/** A hyperparameter of a table, with its value in each row. */
export type Column = { readonly name: string; readonly values: readonly Json[] };

/** Positive values that span more than this factor have a logarithmic axis. */
const LOG_SPAN = 100;
const BASE = 10;

/** Returns the space of the columns: numbers between their minimum and maximum, other values as unordered choices. */
export function spaceOfColumns(columns: readonly Column[]): HyperparameterSpace {
  return Object.fromEntries(columns.map(({ name, values }) => [name, hyperparameterOf(values)]));
}

function hyperparameterOf(values: readonly Json[]): HyperparameterSpace[string] {
  const [first = null] = values;
  const choices = distinct(values);
  if (choices.length <= 1) return { type: "const", val: first };
  if (!values.every((value) => typeof value === "number")) {
    return { type: "categorical", vals: choices };
  }
  const least = values.reduce((a, b) => Math.min(a, b));
  const most = values.reduce((a, b) => Math.max(a, b));
  if (least > 0 && most > LOG_SPAN * least) {
    const [minval, maxval] = [log(least) / log(BASE), log(most) / log(BASE)];
    return { type: "log", base: BASE, minval, maxval, count: null };
  }
  return { type: "double", minval: least, maxval: most, count: null };
}

function distinct(values: readonly Json[]): Json[] {
  const byText = new Map(values.map((value) => [JSON.stringify(value), value]));
  return [...byText.values()];
}

/** The unused rows of a table during one search. */
export class RowsLeft {
  readonly #table: Table;
  readonly #seed: number;
  readonly #axes: readonly Axis[];
  readonly #coordinates: readonly (readonly number[])[];
  readonly #used: Uint8Array;
  /** The rows in the order in which they are drawn, shuffled up to index `#shuffled`. */
  readonly #order: Int32Array;
  #shuffled = 0;

  constructor(table: Table, seed: number) {
    this.#table = table;
    this.#seed = seed;
    this.#axes = axesOf(table.space);
    this.#coordinates = derivedFrom(table, coordinatesOfRows);
    this.#used = new Uint8Array(table.rows.length);
    this.#order = Int32Array.from(table.rows, (_, row) => row);
  }

  /** Draws a random row: the same sequence for the same seed, except for rows that were used in between. */
  drawn(): number {
    for (;;) {
      const row = this.#nextOfOrder();
      if (this.#used[row] === 0) return this.#take(row);
    }
  }

  #nextOfOrder(): number {
    const at = this.#shuffled;
    const left = this.#order.length - at;
    assert(left > 0, "the table has a row left");
    const other = at + drawInteger(this.#seed, "rows", at, left);
    const row = this.#order[other] ?? 0;
    this.#order[other] = this.#order[at] ?? 0;
    this.#order[at] = row;
    this.#shuffled = at + 1;
    return row;
  }

  /** Takes the nearest row; of equally near ones, a random one. */
  nearest(point: JsonObject, trial: number): number {
    const rows = this.#coordinates.length;
    const wanted = coordinatesOf(this.#axes, placeOf(this.#axes, point));
    const first = Math.floor(draw(this.#seed, "nearest-row", trial) * rows);
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < rows; i += 1) {
      const row = (first + i) % rows;
      if (this.#used[row] !== 0) continue;
      const distance = this.#distance(wanted, this.#coordinates[row] ?? []);
      if (distance < least) [best, least] = [row, distance];
    }
    assert(best >= 0, "the table has a row left");
    return this.#take(best);
  }

  #distance(a: readonly number[], b: readonly number[]): number {
    let sum = 0;
    for (const [i, axis] of this.#axes.entries()) {
      const difference = (a[i] ?? 0) - (b[i] ?? 0);
      if (axis.hyperparameter.type === "categorical") sum += difference === 0 ? 0 : 1;
      else sum += difference * difference;
    }
    return sum;
  }

  #take(row: number): number {
    this.#used[row] = 1;
    return row;
  }

  hyperparameters(row: number): JsonObject {
    return this.#table.rows[row] ?? {};
  }
}

function coordinatesOfRows({ space, rows }: Table): readonly (readonly number[])[] {
  const axes = axesOf(space);
  return rows.map((row) => coordinatesOf(axes, placeOf(axes, row)));
}
