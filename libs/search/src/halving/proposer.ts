import type { ProposedPoint } from "../algorithm.ts";
import type { SearchPlan } from "../state.ts";
import type { Halving } from "./state.ts";

/**
 * Returns the point of the next trial of a halving search; `more` are the places of trials that are proposed together
 * with it.
 */
export type Proposer = (
  plan: SearchPlan,
  halving: Halving,
  trial: number,
  more: readonly (readonly number[])[],
) => ProposedPoint;
