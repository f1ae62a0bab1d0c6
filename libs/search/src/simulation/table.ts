/**
 * A table of trainings: a row for each configuration, and its metric after each step. A search against
 * it trains nothing. A trial whose hyperparameters are drawn gets a row drawn from those not yet used; any other
 * proposal gets the nearest row not yet used, by distance in the scaled space, where two different choices are 1 apart.
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
  /** Steps of one full training. */
  readonly steps: number;
  readonly smallerIsBetter: boolean;
  /** The metric of a row after a step, from 1; what is not finite is a training that diverged. */
  readonly valueAt: (row: number, step: number) => number;
  /** Values derived from the rows. */
  readonly derived?: Derived;
};

/** One hyperparameter of a table: the value in each row. */
export type Column = { readonly name: string; readonly values: readonly Json[] };

/** All positive values that span more than this are scaled in the exponent. */
const LOG_SPAN = 100;
const BASE = 10;

/** The space of the columns: numbers between the least and the greatest, all else as choices without order. */
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

/** The rows of a table as the trials of one search use them up. */
export class RowsLeft {
  readonly #table: Table;
  readonly #seed: number;
  readonly #axes: readonly Axis[];
  readonly #coordinates: readonly (readonly number[])[];
  readonly #used: Uint8Array;
  /** Rows in the order in which they are drawn, shuffled as far as `#shuffled`. */
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

  /** A row at random: the same sequence for a seed, save for the rows that were used meanwhile. */
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

  /** The nearest row; which of those equally near, chance says. */
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
