/**
 * A hyperparameter is a mapping whose `type` is one of five names, any other mapping (a nest of hyperparameters), or
 * anything else, which is a constant. A list is one too, and what is written as a hyperparameter in it has to be a right one.
 */
import { z } from "zod";
import { isMapping, valueAt } from "../json.ts";
import { dispatched, jsonSchemaOf, number, positive } from "./values.ts";

const range = { minval: number, maxval: number, count: positive.optional() };

export const hyperparameterTypes = {
  const: z.strictObject({
    type: z.literal("const"),
    val: z
      .any()
      .refine((value) => value !== undefined, { error: "is missing: it is the constant" }),
  }),
  int: z.strictObject({ type: z.literal("int"), ...range, minval: z.int(), maxval: z.int() }),
  double: z.strictObject({ type: z.literal("double"), ...range }),
  /** minval and maxval are exponents. Zero and less have no power for most exponents. */
  log: z.strictObject({ type: z.literal("log"), ...range, base: z.number().gt(0) }),
  categorical: z.strictObject({ type: z.literal("categorical"), vals: z.array(z.any()).min(1) }),
} as const;
export type HyperparameterType = keyof typeof hyperparameterTypes;

export function isHyperparameterType(name: unknown): name is HyperparameterType {
  return typeof name === "string" && Object.hasOwn(hyperparameterTypes, name);
}

/** The type that a value is written with; null for a nest or a constant. */
export function writtenType(value: unknown): string | null {
  const type = isMapping(value) ? valueAt(value, "type") : null;
  return typeof type === "string" ? type : null;
}

const unknownType = z.looseObject({
  type: z.custom<string>(() => false, {
    error: ({ input }) =>
      `is not a type of hyperparameter (const, int, double, log or categorical); for a nested key of the name "type" write type: {type: const, val: ${input}}`,
  }),
});

function shapeOf(value: unknown): z.ZodType {
  const type = writtenType(value);
  if (isHyperparameterType(type)) return hyperparameterTypes[type];
  if (type !== null) return unknownType;
  if (Array.isArray(value)) return z.array(z.lazy(() => hyperparameter));
  return isMapping(value) ? hyperparameters : z.any();
}

const nest = z.record(
  z.string(),
  z.lazy(() => hyperparameter),
);

/** One value under `hyperparameters`. */
export const hyperparameter: z.ZodType = dispatched(shapeOf, () => ({
  anyOf: [
    ...Object.values(hyperparameterTypes).map(jsonSchemaOf),
    {
      type: "object",
      properties: { type: { not: { type: "string" } } },
      additionalProperties: { $ref: "#/$defs/hyperparameter" },
    },
    { type: ["string", "number", "boolean", "null", "array"] },
  ],
}));

export const hyperparameters: z.ZodType = nest;
