/** Changes by users to the runs of experiments, by pool. An entry is removed when its experiment has ended. */
import type { EventOf } from "@trainyard/contracts";
import type { Demand, JobUpdate } from "@trainyard/scheduling";

export type JobChange = JobUpdate & {
  /** The place of the experiment's runs in the queue, on the scale of arrivals. */
  readonly place?: number;
};

export type SavedJob = { readonly pool: string; readonly job: string; readonly change: JobChange };

export class JobChanges {
  readonly #pools = new Map<string, Map<string, JobChange>>();

  get(pool: string, job: string): JobChange {
    return this.#pools.get(pool)?.get(job) ?? {};
  }

  set({ pool, job, change }: SavedJob): void {
    const jobs = this.#pools.get(pool) ?? new Map<string, JobChange>();
    this.#pools.set(pool, jobs.set(job, { ...jobs.get(job), ...change }));
  }

  /** Forgets an experiment; returns the pools that had an entry of it. */
  forget(job: string): readonly string[] {
    return [...this.#pools].flatMap(([pool, jobs]) => (jobs.delete(job) ? [pool] : []));
  }

  forgetPool(pool: string): readonly string[] {
    const jobs = [...(this.#pools.get(pool)?.keys() ?? [])];
    this.#pools.delete(pool);
    return jobs;
  }

  all(): readonly SavedJob[] {
    return [...this.#pools].flatMap(([pool, jobs]) =>
      [...jobs].map(([job, change]) => ({ pool, job, change })),
    );
  }
}

export function changeOf(event: EventOf<"JobUpdated" | "JobMoved">): JobChange {
  if (event.type === "JobMoved") return { place: event.data.place };
  const { priority, weight, maxSlots } = event.data;
  return {
    ...(priority === undefined ? {} : { priority }),
    ...(weight === undefined ? {} : { weight }),
    ...(maxSlots === undefined ? {} : { maxSlots: maxSlots === 0 ? null : maxSlots }),
  };
}

export function withChange(demand: Demand, { place, ...update }: JobChange): Demand {
  return { ...demand, ...update, ...(place === undefined ? {} : { place }) };
}
