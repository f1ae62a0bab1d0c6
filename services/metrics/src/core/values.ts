/**
 * The values of a report. A number is a scalar; so are the strings NaN, Infinity and -Infinity, which stand for what
 * JSON cannot say. Everything else is kept as the JSON that it is, and not charted.
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

/** Undefined for what is no scalar. */
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
 * Bytes that metrics take as JSON at most, where all are numbers and all names can be stored: nearly every report, for
 * which nothing has to be written. Null for others.
 */
export function numbersBytes(metrics: JsonObject): number | null {
  let bytes = 2;
  for (const name of Object.keys(metrics)) {
    const value = metrics[name];
    const isNumber = typeof value === "number" && Number.isFinite(value);
    if (!isNumber || !name.isWellFormed() || name.includes("\0")) return null;
    // A unit of text takes six at most, as an escape; a number 24.
    bytes += 6 * name.length + 28;
  }
  return bytes;
}

/** JSON has no word for what overflowed while it was read (1e400), and would turn it into null. */
export function metricsText(metrics: JsonObject): string {
  // Calling a function for each value takes most of the time of writing it.
  if (Object.values(metrics).every(isPlainScalar)) return JSON.stringify(metrics);
  return JSON.stringify(metrics, (_, value: unknown) =>
    typeof value === "number" && !Number.isFinite(value) ? String(value) : value,
  );
}

/** The size of the metrics as JSON text, never less than they take. */
export const textBytes = (metrics: JsonObject): number =>
  numbersBytes(metrics) ?? 3 * metricsText(metrics).length;

/**
 * The most bytes that a report takes in an answer: a unit of a name takes three, as it is no control character; the
 * rest is numbers.
 */
export const answeredBytes = (names: readonly string[], metricsBytes: number): number =>
  names.reduce((bytes, name) => bytes + 3 * name.length, metricsBytes + 300);

/** The same as it is read back from its text. */
export const asStored = (metrics: JsonObject): JsonObject =>
  Object.values(metrics).every(isPlainScalar)
    ? metrics
    : (JSON.parse(metricsText(metrics)) as JsonObject); // An object stays one.

const isPlainScalar = (value: Json): boolean =>
  typeof value === "number" ? Number.isFinite(value) : typeof value === "string";
