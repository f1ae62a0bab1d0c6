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
  .optional()
  .describe("Other hyperparameters with the values for which this one exists.");
const typeIs = "const, int, double, log, categorical, or nested for a group with a condition.";
const typed = <Name extends string>(name: Name) => z.literal(name).describe(typeIs);
const minval = "The least value; of log the least exponent.";
const maxval = "The greatest value, included; of log the greatest exponent.";
const step = "The distance of neighbouring values, counted from minval.";
const range = {
  minval: number.describe(minval),
  maxval: number.describe(maxval),
  count: positive.describe("How many points a grid has on this axis.").optional(),
  when,
};

export const hyperparameterTypes = {
  const: z.strictObject({
    type: typed("const"),
    when,
    val: z
      .any()
      .refine((value) => value !== undefined, { error: "is missing: it is the constant" })
      .describe("The constant."),
  }),
  int: z.strictObject({
    type: typed("int"),
    ...range,
    minval: z.int().describe(minval),
    maxval: z.int().describe(maxval),
    step: positive.describe(step).optional(),
    log: flag
      .describe("Search the whole numbers uniformly in their logarithm. Default false.")
      .optional(),
  }),
  double: z.strictObject({
    type: typed("double"),
    ...range,
    step: number.gt(0).describe(step).optional(),
  }),
  /**
   * minval and maxval are exponents. The base must be positive: 0 and negative bases have no power for most exponents.
   */
  log: z.strictObject({
    type: typed("log"),
    ...range,
    base: z
      .number()
      .gt(0)
      .describe("The value is base to the power of an exponent between minval and maxval."),
  }),
  categorical: z.strictObject({
    type: typed("categorical"),
    vals: z.array(z.any()).min(1).describe("The values to choose from."),
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
        type: { description: typeIs, const: "nested" },
        when: { description: when.description, type: "object", minProperties: 1 },
        hyperparameters: {
          description: "The hyperparameters of the group.",
          type: "object",
          additionalProperties: { $ref: "#/$defs/hyperparameter" },
        },
      },
      required: ["type", "hyperparameters"],
      additionalProperties: false,
    },
    {
      type: "object",
      properties: { type: { description: typeIs, not: { type: "string" } } },
      additionalProperties: { $ref: "#/$defs/hyperparameter" },
    },
    { type: ["string", "number", "boolean", "null", "array"] },
  ],
})).meta({ id: "hyperparameter" });

export const hyperparameters: z.ZodType = nest.describe(
  "The space of the search: constants, ranges, choices, and groups of them.",
);
