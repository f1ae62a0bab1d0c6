import { busLimits } from "./limits.ts";

/** The positions that a listener to the live tail has heard: in each epoch of EVENTS, they only ascend. */
export class Heard {
  /** The last position by epoch, the one that was heard last at the end. */
  readonly #lastOf = new Map<string, number>();

  /** Whether the event is a later one of its epoch; then it counts as heard. */
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
