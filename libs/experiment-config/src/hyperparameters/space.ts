/** Properties of a space that both checks and searchers need. */
import type { HyperparameterSpace, TypedHyperparameter } from "./hyperparameters.ts";
import { stepsOf } from "./steps.ts";

export type SpaceNode = TypedHyperparameter | HyperparameterSpace;

export function isTyped(node: SpaceNode): node is TypedHyperparameter {
  return typeof node.type === "string";
}

/**
 * Returns the number of points on a hyperparameter's grid axis: `count`, but at most the number of its values; with a
 * `step`, all values.
 */
export function gridAxisLength(hyperparameter: TypedHyperparameter): number {
  switch (hyperparameter.type) {
    case "const":
      return 1;
    case "categorical":
      return hyperparameter.vals.length;
    case "int":
    case "double": {
      const steps = stepsOf(hyperparameter);
      if (steps === null) return hyperparameter.count ?? 1;
      const all = hyperparameter.step === undefined ? 1 : steps.count;
      return Math.min(hyperparameter.count ?? all, steps.count);
    }
    default:
      return hyperparameter.count ?? 1;
  }
}

/** Returns the number of points in a space's grid; 1 for a space without hyperparameters. */
export function gridSize(space: HyperparameterSpace): number {
  let size = 1;
  for (const node of Object.values(space)) {
    size *= isTyped(node) ? gridAxisLength(node) : gridSize(node);
  }
  return size;
}

/** Returns whether any hyperparameter of the space has a condition. */
export function isConditional(space: HyperparameterSpace): boolean {
  return Object.values(space).some((node) =>
    isTyped(node) ? node.when !== undefined : isConditional(node),
  );
}
