/** What a line of a log has to do with a trial: named patterns, of which two are built in. */
import { z } from "zod";
import { isMapping, type Json, valueAt } from "../json.ts";
import { asList, uniteBy } from "../parts/lists.ts";
import type { Check, Part } from "../parts/part.ts";
import { anyText, oneOf, section, text } from "../parts/values.ts";

const logActions = ["cancel_retries", "exclude_node"] as const;
const actions = z.enum(logActions);
const legacyLogAction = z.strictObject({ type: actions });
const logAction = oneOf([actions, legacyLogAction], 'one of "cancel_retries", "exclude_node"');
const policySchema = section({ name: text, pattern: anyText, action: logAction });
const builtIn: Json[] = [
  { name: "CUDA OOM", pattern: ".*CUDA out of memory.*" },
  { name: "ECC Error", pattern: ".*uncorrectable ECC error encountered.*" },
];

/** Policies are merged by name; those from before names were introduced have a pattern instead. */
const checkName: Check = (policy, path, note) => {
  if (!isMapping(policy)) return;
  if (valueAt(policy, "name") === undefined && valueAt(policy, "pattern") === undefined) {
    note(path === "" ? "name" : `${path}.name`, "is missing");
  }
};

/** `{type: exclude_node}` is the older form of `exclude_node`. */
function rewriteAction(action: Json): Json {
  return isMapping(action) ? (valueAt(action, "type") ?? action) : action;
}

const byName = uniteBy("name");
const action: Part = { schema: logAction, rewrite: rewriteAction };
const logPolicy: Part = { schema: policySchema, check: checkName, parts: { action } };
export const logPolicies: Part = {
  schema: z.array(policySchema),
  each: logPolicy,
  merge: byName,
  fill: (policies) => byName(asList(policies), builtIn),
};

/** One action in its two forms. */
function actionAlone(name: string): readonly (readonly [string, Part])[] {
  const alone = z.literal(name);
  const suffix = name.replace("_", "-");
  return [
    [`log-action-${suffix}`, { ...action, schema: alone }],
    [`log-legacy-action-${suffix}`, { ...action, schema: z.strictObject({ type: alone }) }],
  ];
}

export const logParts: Readonly<Record<string, Part>> = {
  "log-policies": logPolicies,
  "log-policy": logPolicy,
  "log-action": action,
  "log-legacy-action": { ...action, schema: legacyLogAction },
  ...Object.fromEntries(logActions.flatMap(actionAlone)),
};
