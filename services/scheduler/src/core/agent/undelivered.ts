/**
 * The checkpoints that ended runs have left on an agent and that are not stored yet. An event records them when the set
 * of these runs changes, not at each delivered checkpoint. So its numbers are those of that moment.
 */
import type { EventData, Plain } from "@trainyard/contracts";
import type { UndeliveredCheckpoints } from "@trainyard/contracts/events";
import { undeliveredText } from "@trainyard/kernel";
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

export function checkpointsText(left: Undelivered): string {
  return `the agent has ${undeliveredText(left)} not stored yet: wait until they are delivered, or remove it with --force and lose them`;
}
