/**
 * The places of an agent's screens, of all its tasks: each screen takes memory. A terminal that is new takes the place
 * of the one that has been quiet for longest if all are taken. That one gets a place again when one is free.
 */
import { limits } from "../limits.ts";

/** A terminal's place; its signal aborts when another terminal takes it. */
export class ScreenPlace implements Disposable {
  readonly #places: ScreenPlaces;
  readonly #lost = new AbortController();

  constructor(places: ScreenPlaces) {
    this.#places = places;
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  lose(): void {
    this.#lost.abort();
  }

  /** Counts output of the terminal: it is the last one whose place is taken. */
  used(): void {
    this.#places.used(this);
  }

  [Symbol.dispose](): void {
    this.#places.leave(this);
  }
}

export class ScreenPlaces {
  readonly #max: number;
  /** In the order of their last output. */
  readonly #taken = new Set<ScreenPlace>();
  #looks = Promise.withResolvers<void>();

  constructor(max: number = limits.screensMax) {
    this.#max = max;
  }

  /** Takes a place for a new terminal. */
  take(): ScreenPlace {
    const [quietest] = this.#taken;
    if (this.#taken.size >= this.#max && quietest !== undefined) {
      this.#taken.delete(quietest);
      quietest.lose();
    }
    return this.#place();
  }

  /** Takes a place once one is free; null if none is wanted by then. */
  async takeFree(isWanted: () => boolean): Promise<ScreenPlace | null> {
    while (isWanted() && this.#taken.size >= this.#max) await this.#looks.promise;
    return isWanted() ? this.#place() : null;
  }

  /** Looks again which of the places that are waited for are wanted. */
  look(): void {
    this.#looks.resolve();
    this.#looks = Promise.withResolvers();
  }

  #place(): ScreenPlace {
    const place = new ScreenPlace(this);
    this.#taken.add(place);
    return place;
  }

  used(place: ScreenPlace): void {
    if (this.#taken.delete(place)) this.#taken.add(place);
  }

  leave(place: ScreenPlace): void {
    if (this.#taken.delete(place)) this.look();
  }
}
