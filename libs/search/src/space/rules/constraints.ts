/** What the configuration's constraints say of a point. */
import { type JsonObject, parseExpression } from "@trainyard/experiment-config";
import type { SearchPlan } from "../../state.ts";
import { type Evaluation, evaluation } from "./evaluate.ts";

/** What constraints and given points are read from: all of a search's plan that they need. */
export type SearchedSpace = Pick<SearchPlan, "space" | "searcher">;

type Constraint = { readonly text: string; readonly evaluation: Evaluation };

/** By the searcher section of a plan, from which they follow. */
const known = new WeakMap<object, readonly Constraint[]>();

function constraintsOf({ searcher }: SearchedSpace): readonly Constraint[] {
  const before = known.get(searcher);
  if (before !== undefined) return before;
  const texts = searcher["constraints"];
  const constraints = (Array.isArray(texts) ? texts : []).map((text) => ({
    text: String(text),
    evaluation: evaluation(parseExpression(String(text))),
  }));
  known.set(searcher, constraints);
  return constraints;
}

export function isConstrained(plan: SearchedSpace): boolean {
  return constraintsOf(plan).length > 0;
}

/** How long they are, all together. */
export function constraintChars(plan: SearchedSpace): number {
  return constraintsOf(plan).reduce((sum, { text }) => sum + text.length, 0);
}

/** Whether a point satisfies every constraint. One that cannot be evaluated there, for want of a hyperparameter, does not count. */
export function isAllowed(plan: SearchedSpace, point: JsonObject): boolean {
  return constraintsOf(plan).every((constraint) => constraint.evaluation(point) !== false);
}

/** The numbers of the constraints that a point does not satisfy, from 0. */
export function brokenConstraints(plan: SearchedSpace, point: JsonObject): readonly number[] {
  return constraintsOf(plan).flatMap((constraint, index) =>
    constraint.evaluation(point) === false ? [index] : [],
  );
}
