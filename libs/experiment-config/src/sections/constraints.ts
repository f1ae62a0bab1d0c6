/**
 * The section `resources.constraints`: conditions on the agents and devices of a run. Each of its agents must meet all
 * of them.
 */
import { isLabel } from "@trainyard/kernel";
import {
  isMapping,
  type Json,
  type JsonObject,
  mappingAt,
  textAt,
  textsAt,
  valueAt,
  withRest,
} from "../json.ts";
import { configLimits } from "../limits.ts";
import { memoryBytes, memoryPattern, memoryShape } from "../memory-size.ts";
import { uniteAll } from "../parts/lists.ts";
import type { Values } from "../parts/values.ts";
import type { SectionModule } from "./module.ts";

/** Labels by name, each with its allowed values; an empty list allows any value. */
export type LabelRules = Readonly<Record<string, string[]>>;
export type PlaceConstraints = ReturnType<(typeof constraints)["read"]>;

const labelRule = "up to 63 letters, digits, dots, dashes, underscores and slashes";
const label = ({ z }: Values) =>
  z.string().refine(isLabel, { error: `must be a label: ${labelRule}` });

function rulesSchema(values: Values) {
  const { oneOf, z } = values;
  /** YAML reads `rack: 3` as a number. */
  const value = z.union([label(values), z.int().min(0)], {
    error: `must be a label's value: ${labelRule}`,
  });
  return z
    .record(
      z.string(),
      oneOf(
        [label(values), z.int().min(0), z.literal(true), z.array(value).min(1)],
        `a label's value, a list of values, or true for any value; a value is ${labelRule}`,
      ),
    )
    .superRefine((all, context) => {
      const names = Object.keys(all);
      for (const name of names.filter((one) => !isLabel(one))) {
        context.addIssue({ code: "custom", path: [name], message: `is not a label: ${labelRule}` });
      }
      if (names.length <= configLimits.labelRulesMax) return;
      const message = `must have at most ${configLimits.labelRulesMax} labels, not ${names.length}`;
      context.addIssue({ code: "custom", message });
    });
}

export const memory = ({ oneOf, z }: Values) =>
  oneOf(
    [z.int().min(0), z.string().regex(memoryPattern, { error: `must be ${memoryShape}` })],
    memoryShape,
  );

/** Sorts the rules by key, whatever their written order. */
function readRules(rules: JsonObject): LabelRules {
  const names = Object.keys(rules).sort();
  return Object.fromEntries(
    names.flatMap((name) => {
      const values = valuesOf(valueAt(rules, name));
      return values === null ? [] : [[name, values]];
    }),
  );
}

/** Returns null for a value that is no rule. */
function valuesOf(value: Json | undefined): string[] | null {
  if (value === true) return [];
  if (typeof value === "string" || typeof value === "number") return [String(value)];
  if (!Array.isArray(value) || isMapping(value)) return null;
  const values = value.filter((one) => typeof one === "string" || typeof one === "number");
  return values.length === 0 && value.length > 0 ? null : values.map(String);
}

export const constraints = {
  description: "On which agents trials run.",
  keys: (values) => {
    const { z } = values;
    const rules = rulesSchema(values);
    return {
      device: z
        .enum(["cpu", "cuda", "rocm"])
        .describe("The kind of each slot's device: cpu, cuda or rocm. Default: any."),
      device_memory: memory(values).describe(
        "The least memory of each slot's device, such as 40 GiB.",
      ),
      require: rules.describe("Labels that an agent needs."),
      prefer: rules.describe("Labels by which agents are preferred."),
      forbid: rules.describe("Labels that an agent must not have."),
      same_label: label(values).describe(
        "All agents of a trial have the same value of this label.",
      ),
    };
  },
  parts: ({ text, z }) => ({
    exclude_agents: {
      schema: z
        .array(text)
        .max(configLimits.excludedAgentsMax)
        .describe("Names of agents where no trial runs."),
      merge: uniteAll,
    },
  }),
  /** Absent or malformed constraints require nothing. */
  read: (section: JsonObject) =>
    withRest(
      {
        /** Empty for any. */
        device: textAt(section, "device"),
        /** In bytes. */
        device_memory: memoryBytes(valueAt(section, "device_memory")) ?? 0,
        require: readRules(mappingAt(section, "require")),
        prefer: readRules(mappingAt(section, "prefer")),
        forbid: readRules(mappingAt(section, "forbid")),
        /** Empty for no condition. */
        same_label: textAt(section, "same_label"),
        exclude_agents: textsAt(section, "exclude_agents"),
      },
      section,
    ),
} satisfies SectionModule;
