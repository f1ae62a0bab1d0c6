/** Nested values, like hyperparameters, as pairs of a path and a value: { optimizer: { lr: 0.1 } } has optimizer.lr. */
import { number } from "./format.ts";

/** A list is one value. */
export type NestedValue = string | number | boolean | null | readonly unknown[];

/** The pairs in the order of the values. */
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

/** The same with the values as people read them. */
export function shownPairs(
  values: Readonly<Record<string, unknown>> | undefined,
): readonly (readonly [path: string, text: string])[] {
  return flattened(values ?? {}).map(([path, value]) => [path, shownValue(value)]);
}

/** A value as people read it; empty where there is none. */
export function shownValue(value: NestedValue | undefined): string {
  if (typeof value === "number") return number(value);
  if (value === undefined || typeof value === "string") return value ?? "";
  return JSON.stringify(value);
}
