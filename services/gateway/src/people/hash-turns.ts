import { Problem } from "../http/problem.ts";
import { peopleLimits } from "./limits.ts";

/** Lets a few hashes run at once, and few more wait; one origin takes only a part of these places. */
export class HashTurns {
  readonly #waiting: (() => void)[] = [];
  readonly #ofOrigin = new Map<string, number>();
  #running = 0;

  /** Runs a task in its turn. Throws a Problem of 429 if too many wait. */
  async take<Result>(origin: string, task: () => Promise<Result>): Promise<Result> {
    const ofOrigin = this.#ofOrigin.get(origin) ?? 0;
    const { hashesMax, hashesWaitingMax, hashesOfOneMax } = peopleLimits;
    if (this.#waiting.length >= hashesWaitingMax || ofOrigin >= hashesOfOneMax) {
      const detail = "many passwords are being checked; try again in a second";
      throw new Problem(429, "busy", detail, { retryAfterSeconds: 1 });
    }
    this.#ofOrigin.set(origin, ofOrigin + 1);
    try {
      if (this.#running >= hashesMax) {
        // A task that ends hands its place over.
        await new Promise<void>((start) => this.#waiting.push(start));
      } else this.#running += 1;
      return await task().finally(() => this.#next());
    } finally {
      const left = (this.#ofOrigin.get(origin) ?? 1) - 1;
      if (left > 0) this.#ofOrigin.set(origin, left);
      else this.#ofOrigin.delete(origin);
    }
  }

  #next(): void {
    const start = this.#waiting.shift();
    if (start === undefined) this.#running -= 1;
    else start();
  }
}
