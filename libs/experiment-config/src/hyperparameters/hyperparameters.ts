/** Hyperparameters in their normalised form, and the conditions under which each is there. */
import { isMapping, type Json, valueAt } from "../json.ts";

/** The values for which a condition holds: these, or the numbers from minval to maxval. */
export type AllowedValues = Json[] | { readonly minval?: number; readonly maxval?: number };

/**
 * The allowed values of other hyperparameters by their path from the top (`/optimizer/name`). All conditions must hold,
 * each for a hyperparameter that the point has.
 */
export type Conditions = { readonly [pointer: string]: AllowedValues };

/** Without a condition a hyperparameter is always there. */
type Conditional = { readonly when?: Conditions };

export type ConstHyperparameter = Conditional & { readonly type: "const"; readonly val: Json };
export type IntHyperparameter = Conditional & {
  readonly type: "int";
  readonly minval: number;
  readonly maxval: number;
  /** Points on the axis of a grid; null where none was given. */
  readonly count: number | null;
  /** The distance of neighbouring values, from minval; absent for 1. */
  readonly step?: number;
  /** Uniform in the logarithm, and rounded. Not with a step. */
  readonly log?: boolean;
};
export type DoubleHyperparameter = Conditional & {
  readonly type: "double";
  readonly minval: number;
  readonly maxval: number;
  /** The distance of neighbouring values, from minval; absent for a continuum. */
  readonly step?: number;
  readonly count: number | null;
};
/** The value is base to the power of something between minval and maxval. */
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

/** A nest: keys in order, each a typed hyperparameter (`type` is text there) or another nest. */
export type HyperparameterSpace = {
  readonly [key: string]: TypedHyperparameter | HyperparameterSpace;
};

/** The type that a value is written with; null for a nest or a constant. */
export function writtenType(value: unknown): string | null {
  const type = isMapping(value) ? valueAt(value, "type") : null;
  return typeof type === "string" ? type : null;
}
