/** What a line of a log has to do with a trial: named patterns, of which two are built in. */
import { isMapping, type Json, valueAt } from "../json.ts";
import {
  legacyLogAction,
  logAction,
  logPolicies as policiesSchema,
  logPolicy as policySchema,
} from "../schema/without-effect.ts";
import { asList, uniteBy } from "./lists.ts";
import type { Check, Part } from "./part.ts";

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
  schema: policiesSchema,
  each: logPolicy,
  merge: byName,
  fill: (policies) => byName(asList(policies), builtIn),
};

export const logParts: Readonly<Record<string, Part>> = {
  "log-policies": logPolicies,
  "log-policy": logPolicy,
  "log-action": action,
  "log-action-cancel-retries": action,
  "log-action-exclude-node": action,
  "log-legacy-action": { ...action, schema: legacyLogAction },
  "log-legacy-action-cancel-retries": { ...action, schema: legacyLogAction },
  "log-legacy-action-exclude-node": { ...action, schema: legacyLogAction },
};
