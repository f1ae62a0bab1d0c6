import { leavesHalf } from "@trainyard/runtime";
import { Problem } from "../http/problem.ts";

export type FairQueueBounds = {
  /** The most tasks that run at once. */
  readonly max: number;
  /** The most tasks of one caller that run at once; it takes at most half of the turns that others leave. */
  readonly ofOneMax: number;
  /** The most tasks of one caller that wait; further ones are refused. Absent for tasks that are limited elsewhere. */
  readonly waitingOfOneMax?: number;
};

/**
 * Runs a limited number of tasks at once; the callers take turns. Many tasks of one caller do not delay the other
 * callers.
 */
export class FairQueue {
  readonly #bounds: FairQueueBounds;
  /** The waiting tasks by caller; the caller whose last turn is longest ago comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #runningOf = new Map<string, number>();
  #running = 0;

  constructor(bounds: FairQueueBounds) {
    this.#bounds = bounds;
  }

  /**
   * Runs a caller's task. Throws a Problem 503 when too many of the caller's tasks wait, and when the signal aborts
   * before the task has begun.
   */
  async run<Result>(
    caller: string,
    task: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const { promise: turn, resolve: start, reject: giveUp } = Promise.withResolvers<void>();
    const own = this.#waiting.get(caller) ?? [];
    if (own.length >= (this.#bounds.waitingOfOneMax ?? Infinity)) {
      throw new Problem(503, "busy", "many of your requests wait; try again");
    }
    own.push(start);
    this.#waiting.set(caller, own);
    const leave = (): void => {
      if (this.#remove(caller, start)) giveUp(new Problem(503, "busy", "the request was given up"));
    };
    if (signal?.aborted) leave();
    signal?.addEventListener("abort", leave);
    this.#startSome();
    await turn.finally(() => signal?.removeEventListener("abort", leave));
    try {
      return await task();
    } finally {
      this.#count(caller, -1);
      this.#startSome();
    }
  }

  /** Returns the caller with the fewest tasks. */
  leastBusy(callers: readonly string[]): string {
    const tasksOf = (caller: string): number =>
      (this.#waiting.get(caller)?.length ?? 0) + (this.#runningOf.get(caller) ?? 0);
    return callers.toSorted((a, b) => tasksOf(a) - tasksOf(b))[0] ?? "";
  }

  /** Whether the task was still waiting. */
  #remove(caller: string, start: () => void): boolean {
    const own = this.#waiting.get(caller) ?? [];
    const index = own.indexOf(start);
    if (index === -1) return false;
    own.splice(index, 1);
    if (own.length === 0) this.#waiting.delete(caller);
    return true;
  }

  #startSome(): void {
    const { max, ofOneMax } = this.#bounds;
    for (const [caller, own] of [...this.#waiting]) {
      if (this.#running >= max) return;
      const held = { ofAll: this.#running, ofOne: this.#runningOf.get(caller) ?? 0 };
      if (!leavesHalf(held, { max, ofOneMax })) continue;
      this.#waiting.delete(caller);
      const start = own.shift();
      if (own.length > 0) this.#waiting.set(caller, own);
      this.#count(caller, 1);
      start?.();
    }
  }

  #count(caller: string, change: 1 | -1): void {
    this.#running += change;
    const now = (this.#runningOf.get(caller) ?? 0) + change;
    if (now > 0) this.#runningOf.set(caller, now);
    else this.#runningOf.delete(caller);
  }
}
