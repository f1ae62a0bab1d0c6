/** The runs that have a place in a pool, and what the jobs and workspaces hold together. */
import type { Demand } from "./demand.ts";

export type PlacedRun = {
  readonly demand: Demand;
  /** The time of its grant. */
  readonly atMs: number;
  /** The time at which its processes had started; null until then. */
  readonly startedAtMs: number | null;
  /** It was asked to stop, and is killed in time if it does not: its slots are free soon. */
  readonly stopping: boolean;
  /** Processes of it cannot be killed: nobody knows when its slots are free. */
  readonly stuck: boolean;
  /** The first run of the queue that it passed, on slots that were reserved for that one; null if there is none. */
  readonly lender: string | null;
  /** Rises with every run that gets a place. */
  readonly order: number;
};

export type Start = {
  readonly atMs: number;
  readonly startedAtMs: number | null;
  readonly lender?: string | null;
};

type Held = { slots: number; readonly runs: Set<string> };

export class PlacedRuns {
  readonly #runs = new Map<string, PlacedRun>();
  readonly #jobs = new Map<string, Held>();
  readonly #workspaces = new Map<string, Held>();
  /** Preemptible runs that may be asked to stop. */
  readonly #evictable = new Map<number, Held>();
  readonly #stopping = new Set<string>();
  readonly #limited = new Set<string>();
  /** By the run that they passed. */
  readonly #borrowers = new Map<string, Held>();
  #slots = 0;
  #starts = 0;

  start(demand: Demand, { atMs, startedAtMs, lender = null }: Start): void {
    this.end(demand.id);
    this.#starts += 1;
    const standing = { stopping: false, stuck: false, lender, order: this.#starts };
    this.#set({ demand, atMs, startedAtMs, ...standing });
  }

  started(id: string, atMs: number): void {
    const run = this.#runs.get(id);
    if (run !== undefined) this.#runs.set(id, { ...run, startedAtMs: atMs });
  }

  stopping(id: string): void {
    this.change(id, () => ({ stopping: true }));
  }

  setStuck(id: string, stuck: boolean): void {
    if (this.#runs.get(id)?.stuck !== stuck) this.change(id, () => ({ stuck }));
  }

  end(id: string): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    const { demand } = run;
    this.#runs.delete(id);
    this.#slots -= demand.slots;
    this.#stopping.delete(id);
    this.#limited.delete(id);
    if (run.lender !== null) drop(this.#borrowers, run.lender, demand);
    drop(this.#jobs, demand.job, demand);
    drop(this.#workspaces, demand.workspace, demand);
    if (isEvictable(run)) drop(this.#evictable, demand.priority, demand);
  }

  change(id: string, change: (run: PlacedRun) => Partial<PlacedRun>): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    this.end(id);
    this.#set({ ...run, ...change(run) });
  }

  #set(run: PlacedRun): void {
    const { demand } = run;
    this.#runs.set(demand.id, run);
    this.#slots += demand.slots;
    if (run.stopping) this.#stopping.add(demand.id);
    if (demand.timeLimitMs !== null) this.#limited.add(demand.id);
    if (run.lender !== null) count(this.#borrowers, run.lender, demand);
    count(this.#jobs, demand.job, demand);
    count(this.#workspaces, demand.workspace, demand);
    if (isEvictable(run)) count(this.#evictable, demand.priority, demand);
  }

  get(id: string): PlacedRun | undefined {
    return this.#runs.get(id);
  }

  get size(): number {
    return this.#runs.size;
  }

  /** All slots that the runs hold together. */
  get slots(): number {
    return this.#slots;
  }

  all(): Iterable<PlacedRun> {
    return this.#runs.values();
  }

  /** Those whose slots are free soon. */
  get stoppingRuns(): readonly PlacedRun[] {
    return this.#these(this.#stopping).filter(({ stuck }) => !stuck);
  }

  /** Those that passed this run on slots that were reserved for it, in the order of their grants. */
  borrowersFrom(lender: string): readonly PlacedRun[] {
    const runs = this.#these(this.#borrowers.get(lender)?.runs ?? []);
    return runs.toSorted((a, b) => a.order - b.order);
  }

  /** Those with a time limit. */
  get limited(): readonly PlacedRun[] {
    return this.#these(this.#limited);
  }

  get jobs(): Iterable<string> {
    return this.#jobs.keys();
  }

  slotsOf(job: string): number {
    return this.#jobs.get(job)?.slots ?? 0;
  }

  runsOf(job: string): readonly PlacedRun[] {
    return this.#these(this.#jobs.get(job)?.runs ?? []);
  }

  countOf(job: string): number {
    return this.#jobs.get(job)?.runs.size ?? 0;
  }

  slotsOfWorkspace(workspace: string): number {
    return this.#workspaces.get(workspace)?.slots ?? 0;
  }

  runsOfWorkspace(workspace: string): readonly PlacedRun[] {
    return this.#these(this.#workspaces.get(workspace)?.runs ?? []);
  }

  /** The slots of preemptible runs of worse priority. */
  evictableSlots(worseThan: number): number {
    let slots = 0;
    for (const [priority, held] of this.#evictable) if (priority > worseThan) slots += held.slots;
    return slots;
  }

  /** The preemptible runs of worse priority, the worst first and of one priority the newest. */
  *evictable(worseThan: number): Generator<PlacedRun> {
    const priorities = [...this.#evictable.keys()].filter((priority) => priority > worseThan);
    for (const priority of priorities.sort((a, b) => b - a)) {
      yield* newestFirst(this.#these(this.#evictable.get(priority)?.runs ?? []));
    }
  }

  #these(ids: Iterable<string>): PlacedRun[] {
    return [...ids].flatMap((id) => this.#runs.get(id) ?? []);
  }
}

export function newestFirst(runs: readonly PlacedRun[]): readonly PlacedRun[] {
  return runs.toSorted((a, b) => b.atMs - a.atMs || b.demand.arrival - a.demand.arrival);
}

/** The time at which a run ends at the latest, as far as it is known; infinite without a time limit. */
export function endsAtMs({ demand, startedAtMs, stuck }: PlacedRun, nowMs: number): number {
  if (demand.timeLimitMs === null || stuck) return Number.POSITIVE_INFINITY;
  return Math.max(nowMs, (startedAtMs ?? nowMs) + demand.timeLimitMs);
}

function isEvictable({ demand, stopping, stuck }: PlacedRun): boolean {
  return demand.preemptible && !stopping && !stuck;
}

function count<Key>(held: Map<Key, Held>, key: Key, { id, slots }: Demand): void {
  const known = held.get(key) ?? { slots: 0, runs: new Set<string>() };
  held.set(key, known);
  known.slots += slots;
  known.runs.add(id);
}

function drop<Key>(held: Map<Key, Held>, key: Key, { id, slots }: Demand): void {
  const known = held.get(key);
  if (known === undefined) return;
  known.slots -= slots;
  known.runs.delete(id);
  if (known.runs.size === 0) held.delete(key);
}
