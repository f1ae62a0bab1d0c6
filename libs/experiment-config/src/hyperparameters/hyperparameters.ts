/** The normalised form of hyperparameters and their conditions. */
import { isMapping, type Json, valueAt } from "../json.ts";

/** The values for which a condition is true: a list, or the numbers from minval to maxval. */
export type AllowedValues = Json[] | { readonly minval?: number; readonly maxval?: number };

/**
 * The allowed values of other hyperparameters by their absolute path (`/optimizer/name`). All conditions must be true,
 * each for a hyperparameter that the point has.
 */
export type Conditions = { readonly [pointer: string]: AllowedValues };

/** A hyperparameter without a condition always exists. */
type Conditional = { readonly when?: Conditions };

export type ConstHyperparameter = Conditional & { readonly type: "const"; readonly val: Json };
export type IntHyperparameter = Conditional & {
  readonly type: "int";
  readonly minval: number;
  readonly maxval: number;
  /** The number of points on a grid's axis; null if not given. */
  readonly count: number | null;
  /** The distance between neighbouring values, from minval; absent for 1. */
  readonly step?: number;
  /** Samples uniformly in the logarithm, and rounds. Not together with a step. */
  readonly log?: boolean;
};
export type DoubleHyperparameter = Conditional & {
  readonly type: "double";
  readonly minval: number;
  readonly maxval: number;
  /** The distance between neighbouring values, from minval; absent for a continuous range. */
  readonly step?: number;
  readonly count: number | null;
};
/** The value is `base` to a power between minval and maxval. */
export type LogHyperparameter = Conditional & {
  readonly type: "log";
  readonly minval: number;
  readonly maxval: number;
  readonly base: number;
  readonly count: number | null;
};
export type CategoricalHyperparameter = Conditional & {
  readonly type: "categorical";
  readonly vals: Json[];
};

export type TypedHyperparameter =
  | ConstHyperparameter
  | IntHyperparameter
  | DoubleHyperparameter
  | LogHyperparameter
  | CategoricalHyperparameter;

/** A nest: sorted keys, each with a typed hyperparameter (its `type` is text) or another nest. */
export type HyperparameterSpace = {
  readonly [key: string]: TypedHyperparameter | HyperparameterSpace;
};

/** Returns the `type` of a written hyperparameter; null for a nest or a constant. */
export function writtenType(value: unknown): string | null {
  const type = isMapping(value) ? valueAt(value, "type") : null;
  return typeof type === "string" ? type : null;
}
