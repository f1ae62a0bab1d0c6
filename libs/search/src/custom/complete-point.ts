/**
 * Checks the hyperparameters that a client proposes against the experiment's space. Each hyperparameter that exists at
 * the point must have a value in its range; only constants may be omitted. Together they must satisfy the constraints.
 * Otherwise the trial would not be one of this search.
 */
import {
  type HyperparameterSpace,
  isTyped,
  type JsonObject,
  sortedKeys,
  whyNoValue,
} from "@trainyard/experiment-config";
import { type FieldProblem, isMapping } from "@trainyard/kernel";
import { valueAtKeys, withoutAbsent } from "../space/rules/conditions.ts";
import { brokenConstraints } from "../space/rules/constraints.ts";
import { fullPoint } from "../space/space.ts";
import type { SearchedSpace } from "../state.ts";

export type CompletedPoint =
  | { readonly point: JsonObject }
  | { readonly problems: readonly FieldProblem[] };

/** Returns the complete point, with constants and sorted keys, or the problems. */
export function completePoint(plan: SearchedSpace, given: JsonObject): CompletedPoint {
  const { space } = plan;
  const problems: FieldProblem[] = [];
  // Null marks a missing value until it is known whether the hyperparameter exists at this point.
  const whole = fullPoint(space, (hyperparameter, _path, keys) => {
    const value = valueAtKeys(given, keys);
    if (value !== undefined) return sortedKeys(value);
    return hyperparameter.type === "const" ? hyperparameter.val : null;
  });
  const point = withoutAbsent(space, whole);
  wrongIn(space, { given, point, keys: [] }, problems);
  if (problems.length > 0) return { problems };
  const broken = brokenConstraints(plan, point).map((number) => constraintAt(plan, number));
  return broken.length === 0 ? { point } : { problems: broken };
}

function constraintAt({ searcher }: SearchedSpace, number: number): FieldProblem {
  const text = searcher.constraints?.[number] ?? "";
  return { path: "", detail: `do not satisfy the constraint ${text}` };
}

type Nest = {
  readonly given: JsonObject;
  /** The complete point without hyperparameters whose condition is false. */
  readonly point: JsonObject;
  /** The keys that lead to this nested mapping. */
  readonly keys: readonly string[];
};

function wrongIn(space: HyperparameterSpace, nest: Nest, problems: FieldProblem[]): void {
  const { given, point, keys } = nest;
  for (const key of Object.keys(given)) {
    if (Object.hasOwn(space, key)) continue;
    const path = [...keys, key].join(".");
    problems.push({ path, detail: "is not a hyperparameter of the experiment" });
  }
  for (const [key, node] of Object.entries(space)) {
    const here = [...keys, key];
    const path = here.join(".");
    const value = Object.hasOwn(given, key) ? given[key] : undefined;
    if (!isTyped(node)) {
      if (value !== undefined && !isMapping(value)) {
        problems.push({ path, detail: "must be a mapping of hyperparameters" });
        continue;
      }
      wrongIn(node, { given: value ?? {}, point, keys: here }, problems);
    } else if (valueAtKeys(point, here) === undefined) {
      if (value === undefined) continue;
      problems.push({ path, detail: "does not exist at this point: its condition is false" });
    } else if (value === undefined) {
      if (node.type !== "const") problems.push({ path, detail: "is missing" });
    } else {
      const detail = whyNoValue(node, value);
      if (detail !== null) problems.push({ path, detail });
    }
  }
}
