/**
 * The values of a report. A number is a scalar; so are the strings NaN, Infinity and -Infinity, which stand for what JSON
 * cannot say. Everything else is kept as the JSON that it is, and not charted.
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

/** JSON has no word for what overflowed while it was read (1e400), and would turn it into null. */
export function metricsText(metrics: JsonObject): string {
  // Calling a function for each value takes most of the time of writing it.
  if (Object.values(metrics).every(isPlainScalar)) return JSON.stringify(metrics);
  return JSON.stringify(metrics, (_, value: unknown) =>
    typeof value === "number" && !Number.isFinite(value) ? String(value) : value,
  );
}

const isPlainScalar = (value: Json): boolean =>
  typeof value === "number" ? Number.isFinite(value) : typeof value === "string";
