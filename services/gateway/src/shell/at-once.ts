import { Problem } from "../http/problem.ts";

export type AtOnceBounds = {
  /** Tasks that run at once. */
  readonly max: number;
  /** Requests that wait for their turn; beyond it they are refused. */
  readonly waitingMax: number;
  /** The reason in a refusal: "many lists are being read". */
  readonly busy: string;
};

/** Runs a few tasks at once; the others wait in the order in which they came. */
export class AtOnce {
  readonly #bounds: AtOnceBounds;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(bounds: AtOnceBounds) {
    this.#bounds = bounds;
  }

  /** Runs a request's task; throws a Problem 503 when the queue is full. */
  async ask<Result>(task: () => Promise<Result>): Promise<Result> {
    const { waitingMax, busy } = this.#bounds;
    if (this.#waiting.length >= waitingMax) throw new Problem(503, "busy", `${busy}; try again`);
    return this.run(task);
  }

  /** Runs a task of the gateway itself, which has only a few: it waits however many others do. */
  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#bounds.max) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      // The next task takes this one's place.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
