/** Questions about a space that the checks and the searchers both ask. */
import type { HyperparameterSpace, TypedHyperparameter } from "./hyperparameters.ts";
import { stepsOf } from "./steps.ts";

export type SpaceNode = TypedHyperparameter | HyperparameterSpace;

export function isTyped(node: SpaceNode): node is TypedHyperparameter {
  return typeof node.type === "string";
}

/**
 * How many points the axis of a hyperparameter has in a grid: `count`, but not more than it has values; with a `step`
 * all of them.
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

/** The number of points in the grid of a space; 1 for a space without hyperparameters. */
export function gridSize(space: HyperparameterSpace): number {
  let size = 1;
  for (const node of Object.values(space)) {
    size *= isTyped(node) ? gridAxisLength(node) : gridSize(node);
  }
  return size;
}

/** Whether a hyperparameter of the space has a condition. */
export function isConditional(space: HyperparameterSpace): boolean {
  return Object.values(space).some((node) =>
    isTyped(node) ? node.when !== undefined : isConditional(node),
  );
}
