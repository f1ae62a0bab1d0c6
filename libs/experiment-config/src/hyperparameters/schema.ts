/**
 * The schema of a hyperparameter. A mapping whose `type` is one of five names is a typed hyperparameter. Any other
 * mapping is a nest; with `type: nested` it has a condition. Anything else is a constant, also a list, but typed
 * hyperparameters inside the list must be valid.
 */
import { z } from "zod";
import { isMapping } from "../json.ts";
import { dispatched, flag, jsonSchemaOf, number, positive } from "../parts/values.ts";
import { writtenType } from "./hyperparameters.ts";

/** Other hyperparameters, each with the values for which this one exists; `conditions.ts` reads them. */
const when = z
  .record(z.string().min(1), z.any())
  .refine((conditions) => Object.keys(conditions).length > 0, {
    error: "is empty: it names hyperparameters with their values, for example {optimizer: sgd}",
  })
  .optional();
const range = { minval: number, maxval: number, count: positive.optional(), when };

export const hyperparameterTypes = {
  const: z.strictObject({
    type: z.literal("const"),
    when,
    val: z
      .any()
      .refine((value) => value !== undefined, { error: "is missing: it is the constant" }),
  }),
  int: z.strictObject({
    type: z.literal("int"),
    ...range,
    minval: z.int(),
    maxval: z.int(),
    step: positive.optional(),
    log: flag.optional(),
  }),
  double: z.strictObject({ type: z.literal("double"), ...range, step: number.gt(0).optional() }),
  /**
   * minval and maxval are exponents. The base must be positive: 0 and negative bases have no power for most exponents.
   */
  log: z.strictObject({ type: z.literal("log"), ...range, base: z.number().gt(0) }),
  categorical: z.strictObject({
    type: z.literal("categorical"),
    vals: z.array(z.any()).min(1),
    when,
  }),
} as const;

/** A nest with a condition. */
const nested = z.strictObject({
  type: z.literal("nested"),
  when,
  hyperparameters: z.record(
    z.string(),
    z.lazy(() => hyperparameter),
  ),
});
type HyperparameterType = keyof typeof hyperparameterTypes;

export function isHyperparameterType(name: unknown): name is HyperparameterType {
  return typeof name === "string" && Object.hasOwn(hyperparameterTypes, name);
}

const unknownType = z.looseObject({
  type: z.custom<string>(() => false, {
    error: ({ input }) =>
      `is not a type of hyperparameter (const, int, double, log, categorical or nested); for a nested key of the name "type" write type: {type: const, val: ${input}}`,
  }),
});

function shapeOf(value: unknown): z.ZodType {
  const type = writtenType(value);
  if (isHyperparameterType(type)) return hyperparameterTypes[type];
  if (type === "nested") return nested;
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
      properties: {
        type: { const: "nested" },
        when: { type: "object", minProperties: 1 },
        hyperparameters: {
          type: "object",
          additionalProperties: { $ref: "#/$defs/hyperparameter" },
        },
      },
      required: ["type", "hyperparameters"],
      additionalProperties: false,
    },
    {
      type: "object",
      properties: { type: { not: { type: "string" } } },
      additionalProperties: { $ref: "#/$defs/hyperparameter" },
    },
    { type: ["string", "number", "boolean", "null", "array"] },
  ],
}));

export const hyperparameters: z.ZodType = nest;
