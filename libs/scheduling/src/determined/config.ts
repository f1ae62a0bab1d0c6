import type { PoolSettings } from "../settings.ts";
import { hasPolicy } from "./policies.ts";

/**
 * Returns a sentence that says why these settings exclude Determined's rules; null if the pool can follow the rules.
 */
export function compatProblem(
  settings: Pick<PoolSettings, "compat" | "policy" | "quotas" | "ageingMs">,
): string | null {
  if (settings.compat !== "determined") return null;
  if (!hasPolicy(settings.policy)) {
    return `compat: determined has no policy ${settings.policy}; use priority or fair_share`;
  }
  if (settings.quotas.length > 0) {
    return "compat: determined has no quotas; remove them, or set compat to an empty text";
  }
  if (settings.ageingMs > 0) {
    return "compat: determined has no ageing; set ageing to 0, or compat to an empty text";
  }
  return null;
}
