/**
 * The actions on matching log lines of a trial: named patterns, two of them built in. A pattern is a regular expression
 * in RE2's syntax, as in Determined, so that matching takes linear time.
 */
import { RE2JS, RE2JSException } from "re2js";
import { z } from "zod";
import { isMapping, type Json, valueAt } from "../json.ts";
import { builtInLogPolicies } from "../log-policies.ts";
import { configLimits } from "../limits.ts";
import { asList, uniteBy } from "../parts/lists.ts";
import type { Check, Part } from "../parts/part.ts";
import { anyText, oneOf, section, text } from "../parts/values.ts";

const logActions = ["cancel_retries", "exclude_node"] as const;
const actions = z.enum(logActions);
const legacyLogAction = z.strictObject({ type: actions.describe("The action.") });
const logAction = oneOf([actions, legacyLogAction], 'one of "cancel_retries", "exclude_node"');
const policySchema = section({
  name: text.describe("A policy replaces the one of the same name. Default: the pattern."),
  pattern: anyText.describe(
    "A regular expression in the syntax of RE2; empty to turn a policy off.",
  ),
  action: logAction.describe(
    "cancel_retries prevents further runs of the trial; exclude_node keeps them off this agent.",
  ),
});
const builtIn: Json[] = builtInLogPolicies.map((policy) => ({ ...policy }));

/** Policies are merged by name; older policies without a name must have a pattern. */
const checkName: Check = (policy, path, note) => {
  if (!isMapping(policy)) return;
  if (valueAt(policy, "name") === undefined && valueAt(policy, "pattern") === undefined) {
    note(path === "" ? "name" : `${path}.name`, "is missing");
  }
};

const checkPattern: Check = (pattern, path, note) => {
  if (typeof pattern !== "string") return;
  const problem = logPatternProblem(pattern);
  if (problem !== null) note(path, problem);
};

/** Returns why a text is no pattern that lines are compared with; null if it is one. */
export function logPatternProblem(pattern: string): string | null {
  if (pattern.length > configLimits.logPatternCharactersMax) {
    return `must be at most ${configLimits.logPatternCharactersMax} characters`;
  }
  try {
    const size = RE2JS.compile(pattern).programSize();
    return size <= configLimits.logPatternInstructionsMax
      ? null
      : "must be a simpler regular expression: each line is compared with it";
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return `must be a regular expression in RE2's syntax: ${error.message}`;
  }
}

/** `{type: exclude_node}` is the older form of `exclude_node`. */
function rewriteAction(action: Json): Json {
  return isMapping(action) ? (valueAt(action, "type") ?? action) : action;
}

const byName = uniteBy("name");
const action: Part = { schema: logAction, rewrite: rewriteAction };
const pattern: Part = { schema: anyText, check: checkPattern };
const logPolicy: Part = { schema: policySchema, check: checkName, parts: { action, pattern } };
export const logPolicies: Part = {
  schema: z
    .array(policySchema)
    .max(configLimits.logPoliciesMax)
    .describe("What happens when a line of the log matches a pattern."),
  each: logPolicy,
  merge: byName,
  fill: (policies) => byName(asList(policies), builtIn),
};

/** Returns the parts of an action in its two forms. */
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
