import { PoolAgents } from "./agents.ts";
import { type Demand, type Share, shapeOf, withBoundedWeight } from "./demand.ts";
import { PlacedRuns, type Start } from "./placed.ts";
import { agesFrom } from "./policies/ageing.ts";
import { policies } from "./policies/policies.ts";
import { kindOf, type Shaped, WaitingQueue } from "./queue.ts";
import { defaultSettings, type PoolSettings, type Quota } from "./settings.ts";

/** A person's change to a job; an absent field keeps the value of the runs. */
export type JobChange = {
  readonly priority?: number;
  readonly weight?: number;
  readonly maxSlots?: number | null;
  /** The job's place in the queue, on the scale of arrivals. */
  readonly place?: number;
};

/** A job of a pool: the changes of people, the arrival of its first run, and the turn of its latest grant. */
export type KnownJob = JobChange & { readonly first?: number; readonly turn?: number };

/** The slots that are reserved for the first run of the queue. */
export type HeadReservation = {
  readonly id: string;
  readonly shares: readonly Share[];
};

/** A set of agents under one policy, with the runs that wait for slots and the runs that hold slots. */
export class Pool {
  readonly agents = new PoolAgents();
  readonly placed = new PlacedRuns();
  readonly queue = new WaitingQueue((asked) => this.#shape(asked));
  readonly #jobs = new Map<string, KnownJob>();
  #settings: PoolSettings;
  #quotas: ReadonlyMap<string, Quota>;
  /** The slots that the last pass reserved: the next pass keeps them, so that the waiting run makes progress. */
  kept: HeadReservation | null = null;
  /** The reservation that was recorded when a run last passed the first run of the queue. */
  #recorded: HeadReservation | null = null;

  constructor(settings: PoolSettings = defaultSettings) {
    this.#settings = settings;
    this.#quotas = quotasOf(settings);
    this.agents.slotlessMax = settings.slotlessPerAgent;
  }

  get settings(): PoolSettings {
    return this.#settings;
  }

  /** The quotas by workspace. */
  get quotas(): ReadonlyMap<string, Quota> {
    return this.#quotas;
  }

  configure(settings: PoolSettings): void {
    this.#settings = settings;
    this.#quotas = quotasOf(settings);
    this.agents.slotlessMax = settings.slotlessPerAgent;
    this.queue.reshape();
  }

  get jobs(): ReadonlyMap<string, KnownJob> {
    return this.#jobs;
  }

  /** Gives the job its place if it has none: the arrival of its first run. */
  noteArrival(job: string, arrival: number): void {
    const known = this.#jobs.get(job);
    if (known?.first === undefined) this.#jobs.set(job, { ...known, first: arrival });
  }

  /** Changes the waiting and placed runs of the job, and its later runs. */
  updateJob(job: string, change: JobChange): void {
    this.#jobs.set(job, { ...this.#jobs.get(job), ...change });
    this.queue.reshape(job);
    for (const { demand } of [...this.placed.runsOf(job)]) {
      this.placed.change(demand.id, () => ({ demand: this.demandOf(demand) }));
    }
  }

  /** Forgets the turn, and the place that nobody set; later runs have the changes of people. */
  endJob(job: string): void {
    const { first: _arrival, turn: _turn, ...changes } = this.#jobs.get(job) ?? {};
    if (Object.keys(changes).length === 0) this.#jobs.delete(job);
    else this.#jobs.set(job, changes);
  }

  forgetJob(job: string): void {
    if (this.#jobs.delete(job)) this.queue.reshape(job);
  }

  /** The demand after changes to its job, with the job's place. */
  demandOf(asked: Demand): Demand {
    const { first, turn: _turn, place = first, ...change } = this.#jobs.get(asked.job) ?? {};
    return withBoundedWeight({
      ...asked,
      ...change,
      ...(place === undefined ? {} : { place }),
    });
  }

  /** Places a run; its slots are held in `agents`. */
  start(demand: Demand, start: Start): void {
    this.#unreserve(demand.id);
    this.#noteTurn(demand.job, start.turn);
    this.placed.start(this.demandOf(demand), start);
  }

  #noteTurn(job: string, turn: number): void {
    const known = this.#jobs.get(job);
    if (turn > (known?.turn ?? 0)) this.#jobs.set(job, { ...known, turn });
  }

  get recorded(): HeadReservation | null {
    return this.#recorded;
  }

  /** Records that a run has passed the run with this reservation. */
  record(reserved: HeadReservation): void {
    this.#recorded = reserved;
    this.kept = reserved;
  }

  #unreserve(id: string): void {
    if (this.#recorded?.id === id) this.#recorded = null;
    if (this.kept?.id === id) this.kept = null;
  }

  started(id: string, atMs: number): void {
    this.placed.started(id, atMs);
  }

  /** Marks whether a run was asked to stop, so that it ends within its preemption timeout. */
  stopping(id: string, stopping = true): void {
    this.placed.stopping(id, stopping);
  }

  /** Marks whether processes of the run cannot be killed. */
  setStuck(id: string, stuck: boolean): void {
    this.placed.setStuck(id, stuck);
  }

  end(id: string): void {
    this.#unreserve(id);
    this.placed.end(id);
  }

  #shape(asked: Demand): Shaped {
    this.noteArrival(asked.job, asked.arrival);
    const demand = this.demandOf(asked);
    const { policy, ageingMs } = this.#settings;
    const { job, workspace, priority, preemptible, timeLimitMs, maxSlots, queuedAtMs } = demand;
    const isApart = policies[policy].byJob || maxSlots !== null;
    const shape = shapeOf(demand);
    const parts = [
      kindOf(demand),
      priority,
      shape,
      preemptible,
      timeLimitMs ?? "",
      this.#quotas.has(workspace) ? workspace : "",
      isApart ? job : "",
      maxSlots ?? "",
      ageingMs > 0 && queuedAtMs !== undefined ? agesFrom(queuedAtMs, ageingMs) : "",
    ];
    return { demand, lane: parts.join("|"), shape };
  }
}

/** Indexes the quotas by workspace; if a workspace has several, the first one counts. */
function quotasOf({ quotas }: PoolSettings): ReadonlyMap<string, Quota> {
  return new Map(quotas.toReversed().map((quota) => [quota.workspace, quota]));
}
