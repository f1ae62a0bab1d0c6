/** The checkpoints that agents have yet to deliver, in the form of events. */
import type { Plain } from "@trainyard/contracts";
import type { SealedCheckpoint } from "@trainyard/contracts/events";

type Sealed = Plain<SealedCheckpoint>;

/** Each checkpoint once, those with the most steps first, up to the limit: the left out ones have the fewest steps. */
export function latestOf(named: readonly Sealed[], atMost: number): readonly Sealed[] {
  const each = new Map(named.map((one) => [one.checkpoint, one]));
  return [...each.values()].sort((a, b) => b.step - a.step).slice(0, atMost);
}
