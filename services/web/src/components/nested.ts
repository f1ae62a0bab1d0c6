/**
 * Flattens nested values, such as hyperparameters, to pairs of a path and a value: { optimizer: { lr: 0.1 } } has
 * optimizer.lr.
 */
import { number } from "./format.ts";

/** A value of a pair; a list is one value. */
export type NestedValue = string | number | boolean | null | readonly unknown[];

/** Returns the pairs in the order of the values. */
export function flattened(
  values: Readonly<Record<string, unknown>>,
  prefix = "",
): readonly (readonly [path: string, value: NestedValue])[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = `${prefix}${name}`;
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      return flattened(value as Readonly<Record<string, unknown>>, `${path}.`);
    }
    return [[path, value as NestedValue] as const];
  });
}

/** Returns the pairs with values formatted for people. */
export function shownPairs(
  values: Readonly<Record<string, unknown>> | undefined,
): readonly (readonly [path: string, text: string])[] {
  return flattened(values ?? {}).map(([path, value]) => [path, shownValue(value)]);
}

/** Formats a value for people; empty for undefined. */
export function shownValue(value: NestedValue | undefined): string {
  if (typeof value === "number") return number(value);
  if (value === undefined || typeof value === "string") return value ?? "";
  return JSON.stringify(value);
}
