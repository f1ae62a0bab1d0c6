import { PoolAgents } from "./agents.ts";
import type { Demand } from "./demand.ts";
import { WaitingQueue } from "./queue.ts";
import { defaultSettings, type PoolSettings } from "./settings.ts";

/** A run that holds slots, or that shares an agent. */
export type Placed = {
  readonly demand: Demand;
  readonly atMs: number;
  /** Null until its processes have started. */
  readonly startedAtMs: number | null;
  /** It was asked to stop. */
  readonly stopping: boolean;
};

/** What a user changed for the runs of a job. An absent field stays as it is; maxSlots null removes the limit. */
export type JobUpdate = {
  readonly priority?: number;
  readonly weight?: number;
  readonly maxSlots?: number | null;
};

type JobChange = JobUpdate & { readonly place?: number };

/** A set of agents under one policy, what waits for them, and the runs that have a place. */
export class Pool {
  readonly agents = new PoolAgents();
  readonly queue = new WaitingQueue();
  readonly placed = new Map<string, Placed>();
  readonly #jobs = new Map<string, JobChange>();
  #settings: PoolSettings;

  constructor(settings: PoolSettings = defaultSettings) {
    this.#settings = settings;
  }

  get settings(): PoolSettings {
    return this.#settings;
  }

  configure(settings: PoolSettings): void {
    this.#settings = settings;
  }

  start(
    demand: Demand,
    { atMs, startedAtMs }: { readonly atMs: number; readonly startedAtMs: number | null },
  ): void {
    const changed = this.#changed(demand);
    this.placed.set(demand.id, { demand: changed, atMs, startedAtMs, stopping: false });
  }

  started(id: string, atMs: number): void {
    this.#changePlaced(id, { startedAtMs: atMs });
  }

  stopping(id: string): void {
    this.#changePlaced(id, { stopping: true });
  }

  end(id: string): void {
    this.placed.delete(id);
  }

  updateJob(job: string, update: JobUpdate): void {
    this.#change(job, update);
  }

  /** `place` is on the scale of `arrival`. */
  moveJob(job: string, place: number): void {
    this.#change(job, { place });
  }

  /** The runs of the job that are here keep what was changed. */
  forgetJob(job: string): void {
    this.#jobs.delete(job);
  }

  #change(job: string, change: JobChange): void {
    this.#jobs.set(job, { ...this.#jobs.get(job), ...change });
    for (const demand of this.queue.ofJob(job)) {
      this.queue.remove(demand.id);
      this.queue.add(this.#changed(demand));
    }
    for (const { demand } of this.placed.values()) {
      if (demand.job === job) this.#changePlaced(demand.id, { demand: this.#changed(demand) });
    }
  }

  #changePlaced(id: string, change: Partial<Placed>): void {
    const placed = this.placed.get(id);
    if (placed !== undefined) this.placed.set(id, { ...placed, ...change });
  }

  #changed(demand: Demand): Demand {
    const { place, ...update } = this.#jobs.get(demand.job) ?? {};
    return { ...demand, ...update, ...(place === undefined ? {} : { arrival: place }) };
  }
}
