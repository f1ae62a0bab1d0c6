/** Checks that hyperparameters in population and schedule searchers fit the space. */
import type { FieldProblem } from "@trainyard/kernel";
import type {
  HyperparameterSpace,
  TypedHyperparameter,
} from "../hyperparameters/hyperparameters.ts";
import { isMapping, itemPath, type Json, type JsonObject, keyPath } from "../json.ts";
import type { ScheduleSegment } from "./population.ts";
import { isTyped } from "../hyperparameters/space.ts";

/** Returns whether a hyperparameter's path is the named one, or inside the named nest. */
export function isWithin(path: string, named: string): boolean {
  return path === named || path.startsWith(`${named}.`) || path.startsWith(`${named}[`);
}

export function mutateProblems(
  mutate: readonly string[],
  space: HyperparameterSpace,
): readonly FieldProblem[] {
  const choices = [...choicesOf(space, "")].map(([path]) => path);
  if (choices.length === 0) {
    const detail =
      "must have a hyperparameter with several values: otherwise all members of the population (searcher pbt) are equal";
    return [{ path: "hyperparameters", detail }];
  }
  return mutate.flatMap((named, index) => {
    if (choices.some((choice) => isWithin(choice, named))) return [];
    const detail = `must name a hyperparameter with several values: ${named} is not one of ${choices.join(", ")}`;
    return [{ path: itemPath("searcher.mutate", index), detail }];
  });
}

function choicesOf(
  space: HyperparameterSpace,
  path: string,
): ReadonlyMap<string, TypedHyperparameter> {
  const choices = new Map<string, TypedHyperparameter>();
  for (const [key, node] of Object.entries(space)) {
    const at = keyPath(path, key);
    if (!isTyped(node)) for (const [inner, typed] of choicesOf(node, at)) choices.set(inner, typed);
    else if (hasChoice(node)) choices.set(at, node);
  }
  return choices;
}

function hasChoice(hyperparameter: TypedHyperparameter): boolean {
  if (hyperparameter.type === "categorical") return hyperparameter.vals.length > 1;
  return hyperparameter.type !== "const";
}

export function segmentProblems(
  segments: readonly ScheduleSegment[],
  space: HyperparameterSpace,
): readonly FieldProblem[] {
  // A hyperparameter with a condition may be absent.
  const needed = [...choicesOf(space, "")].flatMap(([path, { when }]) =>
    when === undefined ? [path] : [],
  );
  return segments.flatMap(({ until, hyperparameters }, index) => {
    const path = itemPath("searcher.schedule", index);
    const problems: FieldProblem[] = [];
    const before = segments[index - 1]?.until;
    if (before !== undefined && until <= before) {
      const detail = `must be later than the previous segment's: ${until} is not greater than ${before}`;
      problems.push({ path: keyPath(path, "until"), detail });
    }
    const missing = needed.filter((choice) => !hasValue(hyperparameters, "", choice));
    if (missing.length > 0) {
      const detail = `has no value for ${missing.join(", ")}, which can have several values`;
      problems.push({ path: keyPath(path, "hyperparameters"), detail });
    }
    return problems;
  });
}

function hasValue(value: Json | JsonObject, path: string, wanted: string): boolean {
  if (path === wanted) return true;
  if (!isMapping(value)) return false;
  return Object.entries(value).some(([key, item]) => {
    const at = keyPath(path, key);
    return isWithin(wanted, at) && hasValue(item, at, wanted);
  });
}
