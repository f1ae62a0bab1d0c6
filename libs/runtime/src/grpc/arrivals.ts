/**
 * The messages of one gRPC call, from their first byte until the handler has them. Each is a byte that says whether it
 * is compressed, its length in four bytes, and its content.
 */
import type { HeldBody } from "../service/body-budget.ts";

const headBytes = 5;

export type ArrivalsDeps = {
  /** Reserves memory for a message whose head has arrived; throws if there is not enough. */
  readonly reserve: (bytes: number) => HeldBody;
  /** The largest message. A compressed one counts as the largest: its length says little about what it becomes. */
  readonly bytesMax: number;
  readonly begun: () => unknown;
  readonly whole: () => unknown;
};

export class Arrivals {
  readonly #deps: ArrivalsDeps;
  readonly #head = Buffer.alloc(headBytes);
  #headLeft = headBytes;
  #left = 0;
  /** The reserved messages, in their order; the last one may be unfinished. */
  readonly #held: HeldBody[] = [];

  constructor(deps: ArrivalsDeps) {
    this.#deps = deps;
  }

  /** Reads bytes as they arrive. */
  read(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#headLeft === headBytes) this.#deps.begun();
      at += this.#headLeft > 0 ? this.#readHead(chunk, at) : this.#skip(chunk.length - at);
      if (this.#headLeft > 0 || this.#left > 0) continue;
      this.#headLeft = headBytes;
      this.#deps.whole();
    }
  }

  /** Returns the memory of the oldest message, which the handler takes. */
  take(): HeldBody | undefined {
    return this.#held.shift();
  }

  /** Gives back the memory of all messages that the handler has not taken. */
  closed(): void {
    for (const body of this.#held.splice(0)) body.closed();
  }

  #readHead(chunk: Buffer, from: number): number {
    const copied = chunk.copy(this.#head, headBytes - this.#headLeft, from, from + this.#headLeft);
    this.#headLeft -= copied;
    if (this.#headLeft === 0) {
      this.#left = this.#head.readUInt32BE(1);
      const isCompressed = this.#head[0] === 1;
      const bytes = isCompressed ? Math.max(this.#left, this.#deps.bytesMax) : this.#left;
      this.#held.push(this.#deps.reserve(bytes));
    }
    return copied;
  }

  #skip(bytes: number): number {
    const skipped = Math.min(bytes, this.#left);
    this.#left -= skipped;
    return skipped;
  }
}
