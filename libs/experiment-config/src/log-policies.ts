/** The log policies of a configuration, for the services that apply them. */
import { isMapping, type Json, textAt } from "./json.ts";

export type LogAction = "cancel_retries" | "exclude_node";

export type LogPolicy = {
  /** The policy's name; default: its pattern. */
  readonly name: string;
  /** A pattern in RE2's syntax, which a line may contain anywhere. Empty for a policy that is turned off. */
  readonly pattern: string;
  /** Absent for a policy that only records matches. */
  readonly action?: LogAction;
};

/** Determined's built-in policies: a configuration replaces them by policies of the same names. */
export const builtInLogPolicies = [
  { name: "CUDA OOM", pattern: ".*CUDA out of memory.*" },
  { name: "ECC Error", pattern: ".*uncorrectable ECC error encountered.*" },
] as const satisfies readonly LogPolicy[];

/** Never fails: malformed policies are left out, and a record without policies gets the built-in ones. */
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
