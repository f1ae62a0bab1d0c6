/**
 * The number of runs of each trial that were stopped to make room for others: trials take turns. A trial without such a
 * run has no entry, and the end of its experiment forgets all.
 */
import { StopWhy } from "@trainyard/contracts/events";
import type { Allocation } from "./state.ts";

export type SavedPreemptions = readonly (readonly [
  job: string,
  trials: readonly (readonly [string, number])[],
])[];

export class Preemptions {
  readonly #jobs = new Map<string, Map<string, number>>();

  of({ job, task }: Pick<Allocation, "job" | "task">): number {
    return this.#jobs.get(job)?.get(task) ?? 0;
  }

  /** Counts an allocation that has ended, if it made room. */
  noteEnd({ job, task, ownStop, grant }: Allocation): void {
    if (grant === null || ownStop?.why !== StopWhy.PREEMPTED) return;
    const trials = this.#jobs.get(job) ?? new Map<string, number>();
    this.#jobs.set(job, trials.set(task, this.of({ job, task }) + 1));
  }

  forget(job: string): void {
    this.#jobs.delete(job);
  }

  saved(): SavedPreemptions {
    return [...this.#jobs].map(([job, trials]) => [job, [...trials]]);
  }

  restore(saved: SavedPreemptions): void {
    for (const [job, trials] of saved) this.#jobs.set(job, new Map(trials));
  }
}
