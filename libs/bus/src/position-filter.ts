import { busLimits } from "./limits.ts";

/** Filters duplicates on the live tail: in each epoch of EVENTS, accepted positions only ascend. */
export class PositionFilter {
  /** The last position by epoch; the most recently received epoch is at the end. */
  readonly #lastOf = new Map<string, number>();

  /** Returns whether the event's position is higher than all earlier ones of its epoch, and records it. */
  isNew(position: number, epoch: string): boolean {
    const last = this.#lastOf.get(epoch) ?? 0;
    if (position <= last) return false;
    this.#lastOf.delete(epoch);
    this.#lastOf.set(epoch, position);
    for (const oldest of this.#lastOf.keys()) {
      if (this.#lastOf.size <= busLimits.epochsRemembered) break;
      this.#lastOf.delete(oldest);
    }
    return true;
  }
}
