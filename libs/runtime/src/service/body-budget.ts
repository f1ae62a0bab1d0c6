/** Bodies of requests that are held at once: whether one fits is decided by its headers, before any of it is read. */
import type { IncomingHttpHeaders } from "node:http";

export type BodyBudgetLimits = {
  /** Up to this a body is not counted. */
  readonly smallBytes: number;
  /** The bytes of all counted bodies together. */
  readonly bytesMax: number;
};

export class BodyBudget {
  readonly #limits: BodyBudgetLimits;
  #heldBytes = 0;

  constructor(limits: BodyBudgetLimits) {
    this.#limits = limits;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Room for the body that the headers announce, which the route reads up to a limit; null when there is none. */
  take(headers: IncomingHttpHeaders, limitBytes: number): HeldBody | null {
    const declared = headers["transfer-encoding"] === undefined;
    const bytes = declared ? Number(headers["content-length"] ?? 0) : limitBytes;
    // One that is too large is refused by its size.
    const counted = bytes > this.#limits.smallBytes && bytes <= limitBytes ? bytes : 0;
    if (this.#heldBytes + counted > this.#limits.bytesMax) return null;
    this.#heldBytes += counted;
    return new HeldBody(() => {
      this.#heldBytes -= counted;
    });
  }
}

/** Given back when the work with the body is over, or when the connection closed and none had begun. */
export class HeldBody {
  #giveBack: (() => void) | null;
  #inWork = false;

  constructor(giveBack: () => void) {
    this.#giveBack = giveBack;
  }

  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#inWork = true;
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  closed(): void {
    if (!this.#inWork) this.#release();
  }

  #release(): void {
    this.#giveBack?.();
    this.#giveBack = null;
  }
}
