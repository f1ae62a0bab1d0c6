import { decodeEvent, encodeEvent } from "@trainyard/contracts";
import { assert } from "@trainyard/kernel";
import { SearchMachine } from "../machine.ts";
import type { SearchEvent } from "../events.ts";

export type FoldedInTwo = {
  /** The events after encoding and decoding, as the log returns them. */
  readonly stored: readonly SearchEvent[];
  /** The number of events in the first half. */
  readonly at: number;
  readonly half: SearchMachine;
  readonly whole: SearchMachine;
};

/** Folds events up to a cut (any number), and the rest onto a snapshot of that state. */
export function foldedInTwo(events: readonly SearchEvent[], cut: number): FoldedInTwo {
  const stored = events.map((event) => decodeEvent(encodeEvent(event)) as SearchEvent);
  const at = cut % (stored.length + 1);
  const half = SearchMachine.of(stored.slice(0, at));
  const whole = SearchMachine.restored(half.snapshot());
  assert(whole !== null, "a snapshot can be read by what wrote it");
  for (const event of stored.slice(at)) whole.apply(event);
  return { stored, at, half, whole };
}
