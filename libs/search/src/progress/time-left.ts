/**
 * Estimates the time in which a search will train its remaining units, from the time that a unit has taken so far.
 *
 * As many trials train side by side as did on average, but not more than train now: when a search ends, its last trials
 * leave the other slots free. A halving search ends with one trial that trains the last stage alone.
 */
import { remainingUnits, type Tally } from "./tally.ts";
import type { UnitPlan } from "./unit-plan.ts";

/** Until this share of the units is trained there is no estimate: the start of the first runs is most of the time. */
export const estimatedFromShare = 0.02;

/** The time in which at least one run trained, and the sum of the times of all runs, in the same unit. */
export type TrainedTime = { readonly ran: number; readonly worked: number };

/** Returns the time left, in the unit of the trained time; null if there is no estimate. */
export function timeLeft(
  plan: UnitPlan,
  tally: Tally,
  { ran, worked }: TrainedTime,
  proposesNoMore = false,
): number | null {
  const remaining = remainingUnits(plan, tally, proposesNoMore);
  if (ran <= 0 || worked <= 0 || remaining <= 0) return null;
  if (tally.trained < estimatedFromShare * (tally.trained + remaining)) return null;
  const sideBySide = Math.max(1, Math.min(worked / ran, tally.training));
  const alone = plan.form === "whole" ? 0 : Math.min(remaining, lastStageOf(plan));
  return ((worked / tally.trained) * (remaining + (sideBySide - 1) * alone)) / sideBySide;
}

function lastStageOf({ stages }: UnitPlan): number {
  return (stages.at(-1)?.until ?? 0) - (stages.at(-2)?.until ?? 0);
}
