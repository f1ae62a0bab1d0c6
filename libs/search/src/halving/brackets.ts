/** The limits of each bracket: how many trials it may still have, and how many may run. */
import type { Halving } from "./state.ts";

export function activeTrials({ brackets }: Halving): number {
  let sum = 0;
  for (const { active } of brackets) sum += active;
  return sum;
}

/** Whether the bracket may run one more trial. */
export function hasRoom(halving: Halving, bracket: number): boolean {
  const { plan, brackets } = halving;
  const own = plan.brackets[bracket]?.concurrent ?? 0;
  return (brackets[bracket]?.active ?? own) < own && activeTrials(halving) < plan.concurrent;
}

/** Whether one more trial may be proposed for the bracket. */
export function mayCreate(halving: Halving, bracket: number): boolean {
  const { plan, brackets, finished } = halving;
  if (finished) return false;
  return (brackets[bracket]?.created ?? 0) < (plan.brackets[bracket]?.trials ?? 0);
}
