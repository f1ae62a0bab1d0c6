/** The log policies of a configuration, as services read them. */
import { isMapping, type Json, textAt } from "./json.ts";

export type LogAction = "cancel_retries" | "exclude_node";

export type LogPolicy = {
  /** The pattern where the policy has no name. */
  readonly name: string;
  /** In RE2's syntax; a line in which it is found matches. Empty for a policy that is off. */
  readonly pattern: string;
  /** Absent for a policy that only records matches. */
  readonly action?: LogAction;
};

/** Determined's: a configuration that has policies of these names replaces them. */
export const builtInLogPolicies = [
  { name: "CUDA OOM", pattern: ".*CUDA out of memory.*" },
  { name: "ECC Error", pattern: ".*uncorrectable ECC error encountered.*" },
] as const satisfies readonly LogPolicy[];

/** Total: what is malformed is left out, and a record without policies has the built-in ones. */
export function readLogPolicies(value: Json | undefined): LogPolicy[] {
  if (!Array.isArray(value)) return [...builtInLogPolicies];
  return value.filter(isMapping).flatMap((policy) => {
    const pattern = textAt(policy, "pattern");
    const name = textAt(policy, "name") || pattern;
    const action = textAt(policy, "action");
    if (name === "") return [];
    if (action !== "cancel_retries" && action !== "exclude_node") return [{ name, pattern }];
    return [{ name, pattern, action }];
  });
}
