/** Counts streams that are open, and bounds them for each caller and for all together. */
import { Problem } from "../http/problem.ts";

export type StreamBounds = { readonly ofOneMax: number; readonly ofAllMax: number };

export class OpenStreams {
  readonly #bounds: StreamBounds;
  readonly #of = new Map<string, number>();
  #all = 0;

  constructor(bounds: StreamBounds) {
    this.#bounds = bounds;
  }

  /**
   * Counts one until it is disposed. Throws a Problem of 429 where the caller, or all together, have as many as they
   * may.
   */
  open(caller: string): Disposable {
    const { ofOneMax, ofAllMax } = this.#bounds;
    const own = this.#of.get(caller) ?? 0;
    if (own >= ofOneMax) throw tooMany(`one caller has at most ${ofOneMax} such streams`);
    if (this.#all >= ofAllMax) throw tooMany(`a gateway has at most ${ofAllMax} such streams`);
    this.#of.set(caller, own + 1);
    this.#all += 1;
    return { [Symbol.dispose]: () => this.#closed(caller) };
  }

  #closed(caller: string): void {
    this.#all -= 1;
    const left = (this.#of.get(caller) ?? 0) - 1;
    if (left > 0) this.#of.set(caller, left);
    else this.#of.delete(caller);
  }
}

const tooMany = (detail: string): Problem => new Problem(429, "too_many_streams", detail);
