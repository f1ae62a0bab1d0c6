/** Reads fields of cases; an absent field is empty. */
import type { JsonObject } from "@trainyard/experiment-config";
import { isMapping } from "@trainyard/kernel";

export type Fields = Readonly<Record<string, unknown>>;

export const mapping = (value: unknown): JsonObject => (value ?? {}) as JsonObject;

export const mappings = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isMapping).map(mapping) : [];

export const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.map(String) : [];

export const numberOr = (value: unknown, otherwise: number): number =>
  typeof value === "number" ? value : otherwise;

/** The texts of a value in sorted order, to compare values of any order. */
export const inOrder = (value: unknown): readonly string[] => [...texts(value)].sort();
