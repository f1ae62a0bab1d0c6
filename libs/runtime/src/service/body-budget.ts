/** Limits the memory of request bodies: the headers decide whether a body fits, before any of it is read. */
import type { IncomingHttpHeaders } from "node:http";

export type BodyBudgetLimits = {
  /** Bodies up to this size are not counted. */
  readonly smallBytes: number;
  /** The maximum of all counted bodies together, in bytes. */
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

  /** Reserves memory for the body announced by the headers, up to the route's limit; null if there is not enough. */
  take(headers: IncomingHttpHeaders, limitBytes: number): HeldBody | null {
    const declared = headers["transfer-encoding"] === undefined;
    const bytes = declared ? Number(headers["content-length"] ?? 0) : limitBytes;
    // A body above the limit is not counted: its size is refused elsewhere.
    const counted = bytes > this.#limits.smallBytes && bytes <= limitBytes ? bytes : 0;
    if (this.#heldBytes + counted > this.#limits.bytesMax) return null;
    this.#heldBytes += counted;
    return new HeldBody(() => {
      this.#heldBytes -= counted;
    });
  }
}

/** A reserved body, released when its processing ends, or when the connection closes before processing has begun. */
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
