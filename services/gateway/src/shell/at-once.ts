import { Problem } from "../http/problem.ts";

export type AtOnceBounds = {
  /** The most tasks that run at once. */
  readonly max: number;
  /** The most requests that wait; further ones are refused. */
  readonly waitingMax: number;
  /** The reason in a refusal: "many lists are being read". */
  readonly busy: string;
};

/** Runs a limited number of tasks at once; others wait in order. */
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

  /** Runs a task of the gateway itself, which may exceed the queue's limit: such tasks are few. */
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
