import { leavesHalf } from "@trainyard/runtime";
import { Problem } from "./problem.ts";

export type StreamBounds = { readonly ofOneMax: number; readonly ofAllMax: number };

/**
 * Counts open streams, and limits them per caller and in total. A caller takes at most half of the places that the
 * others leave.
 */
export class OpenStreams {
  readonly #bounds: StreamBounds;
  readonly #what: string;
  readonly #ofCaller = new Map<string, number>();
  #streams = 0;

  /** `what` names the streams in the refusal. */
  constructor(bounds: StreamBounds, what = "such streams") {
    this.#bounds = bounds;
    this.#what = what;
  }

  /** Counts a stream until it is disposed. Throws a Problem of 429 at the limit of the caller or of the gateway. */
  open(caller: string): Disposable {
    const { ofOneMax, ofAllMax } = this.#bounds;
    const held = { ofAll: this.#streams, ofOne: this.#ofCaller.get(caller) ?? 0 };
    if (held.ofOne >= ofOneMax)
      throw tooMany(`one caller has at most ${ofOneMax} ${this.#what} at once`);
    if (!leavesHalf(held, { max: ofAllMax, ofOneMax })) {
      const most = `a gateway has at most ${ofAllMax} ${this.#what} at once`;
      throw tooMany(`${most}, and one caller half of those that others leave`);
    }
    this.#count(caller, 1);
    return { [Symbol.dispose]: () => this.#count(caller, -1) };
  }

  #count(caller: string, change: 1 | -1): void {
    this.#streams += change;
    const now = (this.#ofCaller.get(caller) ?? 0) + change;
    if (now > 0) this.#ofCaller.set(caller, now);
    else this.#ofCaller.delete(caller);
  }
}

const tooMany = (detail: string): Problem => new Problem(429, "too_many_streams", detail);
