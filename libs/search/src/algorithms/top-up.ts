import type { Decision, ProposedPoint } from "../algorithm.ts";
import { searchLimits } from "../limits.ts";
import { proposedTrials, type RunningSearch } from "../state.ts";

/** Proposals for the next trial numbers until `wanted` trials have been proposed, or as many are unended as may be. */
export function topUp(
  search: RunningSearch,
  wanted: number,
  pointOf: (trial: number) => ProposedPoint,
): readonly Decision[] {
  const { concurrentTrialsMax, spaceBytes } = search.plan;
  const proposed = proposedTrials(search);
  const room = concurrentTrialsMax === 0 ? wanted : concurrentTrialsMax - search.unended;
  const bytesAllow = Math.floor(searchLimits.proposalBytesPerDecisionMax / spaceBytes);
  const atOnce = Math.max(1, Math.min(searchLimits.proposalsPerDecisionMax, bytesAllow));
  const count = Math.max(0, Math.min(wanted - proposed, room, atOnce));
  return Array.from({ length: count }, (_, i) => ({
    kind: "propose",
    ...pointOf(proposed + 1 + i),
  }));
}
