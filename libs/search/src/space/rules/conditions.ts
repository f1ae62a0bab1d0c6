/**
 * Decides which hyperparameters a point has: a conditional one exists if the hyperparameters that its condition names
 * have the required values.
 */
import {
  type AllowedValues,
  type HyperparameterSpace,
  isAllowedValue,
  isConditional,
  isTyped,
  type Json,
  type JsonObject,
  keysOfPointer,
  type TypedHyperparameter,
} from "@trainyard/experiment-config";
import { isMapping } from "@trainyard/kernel";

/** A hyperparameter that a condition names, with the values that it allows. */
export type Parent = { readonly keys: readonly string[]; readonly allowed: AllowedValues };

type Conditional = { readonly keys: readonly string[]; readonly parents: readonly Parent[] };

/** Removes hyperparameters whose condition is false from a point with a value for each; the point is changed. */
export function withoutAbsent(space: HyperparameterSpace, point: JsonObject): JsonObject {
  if (!isConditional(space)) return point;
  for (const { keys, parents } of conditionalsOf(space)) {
    if (!areMet(parents, point)) removeAtKeys(point, keys);
  }
  return point;
}

export function parentsOf({ when = {} }: TypedHyperparameter): readonly Parent[] {
  return Object.entries(when).map(([pointer, allowed]) => ({
    keys: keysOfPointer(pointer),
    allowed,
  }));
}

/** Whether a condition is true at a point without the hyperparameters whose own condition is false. */
export function areMet(parents: readonly Parent[], point: JsonObject): boolean {
  return parents.every(({ keys, allowed }) => {
    const value = valueAtKeys(point, keys);
    return value !== undefined && isAllowedValue(allowed, value);
  });
}

/** Returns the value at these keys; undefined if it is missing. */
export function valueAtKeys(point: JsonObject, keys: readonly string[]): Json | undefined {
  let value: Json | undefined = point;
  for (const key of keys) {
    if (!isMapping(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** Sets the value at these keys, and creates the nested mappings on the way. */
export function putAtKeys(point: JsonObject, keys: readonly string[], value: Json): void {
  const [key, ...rest] = keys;
  if (key === undefined) return;
  if (rest.length === 0) {
    point[key] = value;
    return;
  }
  const inside = point[key];
  const nest = isMapping(inside) ? inside : {};
  point[key] = nest;
  putAtKeys(nest, rest, value);
}

/** Removes the value at these keys, and nested mappings that become empty. */
export function removeAtKeys(point: JsonObject, keys: readonly string[]): void {
  const [key, ...rest] = keys;
  if (key === undefined) return;
  const inside = point[key];
  if (rest.length > 0 && isMapping(inside)) {
    removeAtKeys(inside, rest);
    if (Object.keys(inside).length > 0) return;
  }
  delete point[key];
}

/** The conditional hyperparameters of a space, each after those that its condition names. */
function conditionalsOf(space: HyperparameterSpace): readonly Conditional[] {
  return inOrder(collected(space, []));
}

function collected(space: HyperparameterSpace, around: readonly string[]): readonly Conditional[] {
  return Object.entries(space).flatMap(([key, node]) => {
    const keys = [...around, key];
    if (!isTyped(node)) return collected(node, keys);
    const parents = parentsOf(node);
    return parents.length === 0 ? [] : [{ keys, parents }];
  });
}

/**
 * Sorts hyperparameters after those that their condition names; a cycle, which no accepted configuration has, comes
 * last.
 */
function inOrder(all: readonly Conditional[]): readonly Conditional[] {
  const nameOf = (keys: readonly string[]): string => JSON.stringify(keys);
  const left = new Map(all.map((one) => [nameOf(one.keys), one]));
  const ordered: Conditional[] = [];
  while (left.size > 0) {
    const ready = [...left].filter(([, { parents }]) =>
      parents.every(({ keys }) => !left.has(nameOf(keys))),
    );
    if (ready.length === 0) return [...ordered, ...left.values()];
    for (const [name, one] of ready) {
      ordered.push(one);
      left.delete(name);
    }
  }
  return ordered;
}
