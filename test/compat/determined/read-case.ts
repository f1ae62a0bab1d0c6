/** Reads fields of cases: what is absent is empty. */
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

/** The same however it is ordered. */
export const inOrder = (value: unknown): readonly string[] => [...texts(value)].sort();
