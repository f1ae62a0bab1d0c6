/** The points that trials get where no model proposes them. */
import type { ProposedPoint } from "./algorithm.ts";
import { sampledPoint } from "./space.ts";
import type { SearchPlan } from "./state.ts";

/** The point that a trial gets without a model: a function of the plan and the trial's number. */
export function pointOfTrial({ space, seed }: SearchPlan, trial: number): ProposedPoint {
  return { hyperparameters: sampledPoint(space, seed, trial), origin: "drawn" };
}
