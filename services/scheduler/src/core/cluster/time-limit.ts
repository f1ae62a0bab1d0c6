import type { Allocation } from "./state.ts";

/** True if the allocation's processes have started, with a time limit. */
export function isTimed(allocation: Allocation | undefined): boolean {
  const { startedAtMs = null, resources } = allocation ?? {};
  return startedAtMs !== null && resources?.timeLimitMs !== undefined;
}
