import type { ProposedPoint } from "../algorithm.ts";
import type { SearchPlan } from "../state.ts";
import type { Halving } from "./state.ts";

/**
 * The point of the next trial of a search that halves, by what its rungs hold; `more` are the places of those that are
 * proposed together with it.
 */
export type Proposer = (
  plan: SearchPlan,
  halving: Halving,
  trial: number,
  more: readonly (readonly number[])[],
) => ProposedPoint;
