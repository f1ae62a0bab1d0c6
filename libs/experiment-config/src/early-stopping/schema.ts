/** The schema of a policy: one from the table, by its `name`, or a combination of several. */
import { z } from "zod";
import { isMapping, valueAt } from "../json.ts";
import { configLimits } from "../limits.ts";
import * as values from "../parts/values.ts";
import { combining, policies, type PolicyName } from "./policies.ts";

const names = Object.keys(policies) as readonly PolicyName[];

function schemaOf(name: PolicyName) {
  const { needed, optional } = policies[name].keys(values);
  const named = z.literal(name).describe("The policy. docs/early-stopping.md explains each.");
  return values.entry({ name: named, ...needed }, optional);
}

const schemas = names.map(schemaOf);
const byName = values.oneOfKinds("name", schemas, names);
const combinations = Object.fromEntries(
  combining.map((key) => [
    key,
    z.strictObject({
      [key]: z
        .array(z.lazy(() => earlyStoppingPolicy))
        .min(1)
        .max(configLimits.policiesMax),
    }),
  ]),
);

function combinationOf(value: unknown): z.ZodType | undefined {
  const key = combining.find((one) => isMapping(value) && valueAt(value, one) !== undefined);
  return key === undefined ? undefined : combinations[key];
}

/** One policy, or a combination of several. */
export const earlyStoppingPolicy: z.ZodType = values
  .dispatched(
    (value) => combinationOf(value) ?? byName,
    () => ({
      anyOf: [
        ...schemas.map(values.jsonSchemaOf),
        ...combining.map((key) => ({
          type: "object",
          properties: {
            [key]: {
              description: `Stops a trial if ${key === "any" ? "one" : "all"} of these policies ${key === "any" ? "does" : "do"}.`,
              type: "array",
              items: { $ref: "#/$defs/early_stopping_policy" },
            },
          },
          required: [key],
          additionalProperties: false,
        })),
      ],
    }),
  )
  .meta({ id: "early_stopping_policy" });

export const earlyStopping = z
  .array(earlyStoppingPolicy)
  .max(configLimits.policiesMax)
  .describe("Policies that stop trials, or end the search, before their time.");
