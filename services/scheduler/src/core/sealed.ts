/** The checkpoints that agents say they have yet to deliver, as events name them. */
import type { Plain } from "@trainyard/contracts";
import type { SealedCheckpoint } from "@trainyard/contracts/events";

type Sealed = Plain<SealedCheckpoint>;

/** Each once, those with the most steps first, at most so many: of what is left out the least is lost. */
export function latestOf(named: readonly Sealed[], atMost: number): readonly Sealed[] {
  const each = new Map(named.map((one) => [one.checkpoint, one]));
  return [...each.values()].sort((a, b) => b.step - a.step).slice(0, atMost);
}
