/**
 * The checkpoints that ended runs have left on an agent and that are not stored yet. An event records them when the set
 * of these runs changes, not at each delivered checkpoint. So its numbers are those of that moment.
 */
import type { EventData, Plain } from "@trainyard/contracts";
import type { UndeliveredCheckpoints } from "@trainyard/contracts/events";
import { limits } from "../../limits.ts";
import type { AgentEvent, AgentState } from "./state.ts";

type Undelivered = Plain<UndeliveredCheckpoints>;

export const noneLeft: Undelivered = { checkpoints: 0, bytes: 0, runs: [] };

/** Null once all checkpoints are delivered. */
export function undeliveredAfter(left: EventData<"CheckpointsLeft">): Undelivered | null {
  return left.checkpoints === 0 ? null : left;
}

/** Whether other runs than before have left checkpoints. */
export function isOfOthers(before: Undelivered | null, left: Undelivered): boolean {
  const [one, other] = [before ?? noneLeft, left];
  return one.checkpoints > 0 !== other.checkpoints > 0 || one.runs.join() !== other.runs.join();
}

export function noteCheckpoints(
  { undelivered }: Pick<AgentState, "undelivered">,
  left: Undelivered,
): readonly AgentEvent[] {
  return isOfOthers(undelivered, left) ? [{ type: "CheckpointsLeft", data: left }] : [];
}

/** Returns for example "3 checkpoints (12.0 GB) of the runs 12.1#1 and 12.2#1 are …". */
export function checkpointsText({ checkpoints, bytes, runs }: Undelivered): string {
  const named = runs.slice(0, limits.runsNamedMax).join(", ");
  const more = runs.length > limits.runsNamedMax ? ", …" : "";
  const size = (bytes / 1e9).toFixed(1);
  return `it has ${checkpoints} checkpoints (${size} GB) that are not stored yet (of ${named}${more}): wait until it has delivered them, or remove it with --force and lose them`;
}
