import type { Decision, ProposedPoint } from "../algorithm.ts";
import { searchLimits } from "../limits.ts";
import { proposedTrials, type RunningSearch } from "../state.ts";

/** The number of trials that may be proposed now, limited by `wanted` and by the concurrency limit. */
export function roomFor(search: RunningSearch, wanted: number): number {
  const { concurrentTrialsMax } = search.plan;
  const room = concurrentTrialsMax === 0 ? wanted : concurrentTrialsMax - search.unended;
  return Math.max(0, Math.min(wanted - proposedTrials(search), room));
}

/** Proposes the next trials while there is room, each with its point. */
export function topUp(
  search: RunningSearch,
  wanted: number,
  pointOf: (trial: number) => ProposedPoint | null,
): readonly Decision[] {
  const { spaceBytes } = search.plan;
  const proposed = proposedTrials(search);
  const bytesAllow = Math.floor(searchLimits.proposalBytesPerDecisionMax / spaceBytes);
  const atOnce = Math.max(1, Math.min(searchLimits.proposalsPerDecisionMax, bytesAllow));
  const count = Math.min(roomFor(search, wanted), atOnce);
  const decisions: Decision[] = [];
  while (decisions.length < count) {
    const point = pointOf(proposed + decisions.length + 1);
    if (point === null) break;
    decisions.push({ kind: "propose", ...point });
  }
  return decisions;
}
