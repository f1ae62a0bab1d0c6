import { type Holder, isSameHolder } from "../agent/holder.ts";
import type { Agent } from "./state.ts";

/** A run from before an agent told its folder is not known: it is taken for the same. */
export function heldSince(before: Agent | undefined, holder: Holder, position: number): number {
  if (before === undefined || before.joined.folder === undefined) return before?.heldSince ?? 0;
  return isSameHolder(before.joined, holder) ? before.heldSince : position;
}
