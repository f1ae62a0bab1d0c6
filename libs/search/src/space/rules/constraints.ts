/** Evaluates the configuration's constraints at points. */
import { type JsonObject, parseExpression } from "@trainyard/experiment-config";
import { derivedFrom } from "../../derived.ts";
import type { SearchedSpace } from "../../state.ts";
import { type Evaluation, evaluation } from "./evaluate.ts";

type Constraint = { readonly text: string; readonly evaluation: Evaluation };

function constraintsOf(plan: SearchedSpace): readonly Constraint[] {
  return derivedFrom(plan, parsedConstraints);
}

function parsedConstraints({ searcher }: SearchedSpace): readonly Constraint[] {
  return (searcher.constraints ?? []).map((text) => ({
    text,
    evaluation: evaluation(parseExpression(text)),
  }));
}

export function isConstrained(plan: SearchedSpace): boolean {
  return constraintsOf(plan).length > 0;
}

/** The total length of all constraints in characters. */
export function constraintChars(plan: SearchedSpace): number {
  return constraintsOf(plan).reduce((sum, { text }) => sum + text.length, 0);
}

/** Whether a point satisfies every constraint. A constraint on a missing hyperparameter counts as satisfied. */
export function isAllowed(plan: SearchedSpace, point: JsonObject): boolean {
  return constraintsOf(plan).every((constraint) => constraint.evaluation(point) !== false);
}

/** The indexes of the constraints that a point does not satisfy. */
export function brokenConstraints(plan: SearchedSpace, point: JsonObject): readonly number[] {
  return constraintsOf(plan).flatMap((constraint, index) =>
    constraint.evaluation(point) === false ? [index] : [],
  );
}
