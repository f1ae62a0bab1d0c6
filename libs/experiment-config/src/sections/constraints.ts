/** The section `resources.constraints`: the agents where runs may be placed. */
import { isLabel } from "@trainyard/kernel";
import { z } from "zod";
import { configLimits } from "../limits.ts";
import { memoryPattern, memoryShape } from "../memory-size.ts";
import { uniteAll } from "../parts/lists.ts";
import type { Part } from "../parts/part.ts";
import { oneOf, section, text } from "../parts/values.ts";

const labelRule = "up to 63 letters, digits, dots, dashes, underscores and slashes";
const label = z.string().refine(isLabel, { error: `must be a label: ${labelRule}` });
/** YAML reads `rack: 3` as a number. */
const value = z.union([label, z.int().min(0)], { error: `must be a label's value: ${labelRule}` });
const rules = z
  .record(
    z.string(),
    oneOf(
      [label, z.int().min(0), z.literal(true), z.array(value).min(1)],
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

export const memory = oneOf(
  [z.int().min(0), z.string().regex(memoryPattern, { error: `must be ${memoryShape}` })],
  memoryShape,
);

export const constraints: Part = {
  schema: section({
    device: z.enum(["cpu", "cuda", "rocm"]),
    device_memory: memory,
    require: rules,
    prefer: rules,
    forbid: rules,
    exclude_agents: z.array(text).max(configLimits.excludedAgentsMax),
    same_label: label,
  }),
  parts: {
    exclude_agents: { schema: z.array(text), merge: uniteAll },
  },
};
