/**
 * The budget of the whole search: how much of it is spent. The limit of trials is enforced where trials are proposed.
 */
import type { BudgetPolicy, JsonObject } from "@trainyard/experiment-config";
import { type Evidence, text } from "../evidence.ts";
import type { EarlyStoppingState } from "./state.ts";

export const MS_PER_HOUR = 3_600_000;

/** Returns the slot-hours so far, and the wall time in seconds. */
function spentOf({ usage }: EarlyStoppingState): {
  readonly hours: number;
  readonly seconds: number;
} {
  const running = usage.slots * usage.at - usage.since;
  return {
    hours: (usage.spent + Math.max(0, running)) / MS_PER_HOUR,
    seconds: Math.max(0, usage.at - usage.startedAt) / 1_000,
  };
}

/** Returns the evidence that a limit of time is exceeded; null if none is. */
export function overspent(budget: BudgetPolicy, memory: EarlyStoppingState): JsonObject | null {
  const { hours, seconds } = spentOf(memory);
  const { max_wall_time, max_slot_hours } = budget;
  if (max_wall_time !== null && seconds >= max_wall_time) {
    return { limit: "max_wall_time", max_wall_time, spent: seconds };
  }
  if (max_slot_hours !== null && hours >= max_slot_hours) {
    return { limit: "max_slot_hours", max_slot_hours, spent: hours };
  }
  return null;
}

export function limitsTime({ max_wall_time, max_slot_hours }: BudgetPolicy): boolean {
  return max_wall_time !== null || max_slot_hours !== null;
}

export function budgetSentence({ limit, spent, ...limits }: Evidence): string {
  return `${text(limit)} is ${text(limits[text(limit)])}, and ${text(spent)} is spent`;
}
