/**
 * The values of a report. Numbers are scalars, and so are the strings NaN, Infinity and -Infinity, which JSON has no
 * numbers for. Other values are stored as JSON and not charted.
 */
import type { Plain } from "@trainyard/contracts";
import type { RunReport } from "@trainyard/contracts/api";

export type JsonObject = NonNullable<Plain<RunReport>["metrics"]>;
type Json = JsonObject[string];

const spelled: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
};

/** Returns undefined for a value that is not a scalar. */
export function scalarOf(value: Json): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || !Object.hasOwn(spelled, value)) return undefined;
  return spelled[value];
}

export const isScalar = (value: Json): boolean => scalarOf(value) !== undefined;

export type Values = {
  readonly scalars: { readonly [name: string]: number };
  readonly others: JsonObject;
};

export function valuesOf(metrics: JsonObject): Values {
  const scalars: [string, number][] = [];
  const others: [string, Json][] = [];
  for (const [name, value] of Object.entries(metrics)) {
    const scalar = scalarOf(value);
    if (scalar === undefined) others.push([name, value]);
    else scalars.push([name, scalar]);
  }
  return { scalars: Object.fromEntries(scalars), others: Object.fromEntries(others) };
}

/**
 * An upper bound of the metrics' size as JSON if all are numbers and all names can be stored, which holds for nearly
 * every report and saves writing the JSON. Null for other metrics.
 */
export function numbersBytes(metrics: JsonObject): number | null {
  let bytes = 2;
  for (const name of Object.keys(metrics)) {
    const value = metrics[name];
    const isNumber = typeof value === "number" && Number.isFinite(value);
    if (!isNumber || !name.isWellFormed() || name.includes("\0")) return null;
    // A UTF-16 unit takes at most six bytes, as an escape; a number at most 24.
    bytes += 6 * name.length + 28;
  }
  return bytes;
}

/** A number that overflowed when it was parsed (1e400) is written as a string, since JSON would turn it into null. */
export function metricsText(metrics: JsonObject): string {
  // The fast path: a replacer call for each value takes most of the writing time.
  if (Object.values(metrics).every(isPlainScalar)) return JSON.stringify(metrics);
  return JSON.stringify(metrics, (_, value: unknown) =>
    typeof value === "number" && !Number.isFinite(value) ? String(value) : value,
  );
}

/** An upper bound of the size of the metrics as JSON text. */
export const textBytes = (metrics: JsonObject): number =>
  numbersBytes(metrics) ?? 3 * metricsText(metrics).length;

/**
 * An upper bound of a report's size in an answer: a unit of a name takes at most three bytes, as names have no control
 * characters; the rest is numbers.
 */
export const answeredBytes = (names: readonly string[], metricsBytes: number): number =>
  names.reduce((bytes, name) => bytes + 3 * name.length, metricsBytes + 300);

/** Returns the metrics as they are read back from their text. */
export const asStored = (metrics: JsonObject): JsonObject =>
  Object.values(metrics).every(isPlainScalar)
    ? metrics
    : (JSON.parse(metricsText(metrics)) as JsonObject); // An object stays one.

const isPlainScalar = (value: Json): boolean =>
  typeof value === "number" ? Number.isFinite(value) : typeof value === "string";
