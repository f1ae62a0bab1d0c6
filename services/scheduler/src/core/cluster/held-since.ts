import { type Holder, isSameHolder } from "../agent/holder.ts";
import type { Agent } from "./state.ts";

export function heldSince(before: Agent | undefined, holder: Holder, position: number): number {
  if (before === undefined) return 0;
  return isSameHolder(before.joined, holder) ? before.heldSince : position;
}
