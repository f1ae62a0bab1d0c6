/**
 * The runs that have a place in a pool, and what the jobs and workspaces hold together. Whatever a pass asks of them is
 * kept in the order in which it is asked for, so that the answer costs what the pass reads of it.
 */
import type { Demand } from "./demand.ts";
import { SortedRuns } from "./sorted-runs.ts";

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
  /** The first queued run that it passed, if it runs on slots reserved for that run; else null. */
  readonly lender: string | null;
  /** Rises with every run that gets a place. */
  readonly order: number;
};

export type Start = {
  readonly atMs: number;
  readonly startedAtMs: number | null;
  readonly lender?: string | null;
};

/** Runs that count together. */
class Group {
  slots = 0;
  /** The slots of those that nobody has asked to stop, and that can end. */
  stayingSlots = 0;
  readonly byAge = new SortedRuns(
    (a, b) => a.atMs - b.atMs || a.demand.arrival - b.demand.arrival || a.order - b.order,
  );

  add(run: PlacedRun): void {
    this.#count(run, 1);
    this.byAge.add(run);
  }

  remove(run: PlacedRun): void {
    this.#count(run, -1);
    this.byAge.remove(run);
  }

  #count({ demand, stopping, stuck }: PlacedRun, sign: number): void {
    this.slots += sign * demand.slots;
    if (!stopping && !stuck) this.stayingSlots += sign * demand.slots;
  }
}

export class PlacedRuns {
  readonly #runs = new Map<string, PlacedRun>();
  readonly #jobs = new Map<string, Group>();
  readonly #workspaces = new Map<string, Group>();
  /** Preemptible runs that may be asked to stop, by priority. */
  readonly #evictable = new Map<number, Group>();
  readonly #stopping = new Map<string, PlacedRun>();
  /** Runs with a time limit whose processes have started, by their ends. */
  readonly #limited = new SortedRuns((a, b) => endOf(a) - endOf(b) || a.order - b.order);
  /** The other runs with a time limit, by these. */
  readonly #limitedLater = new SortedRuns(
    (a, b) => timeLimitOf(a) - timeLimitOf(b) || a.order - b.order,
  );
  /** The runs by the run that they passed, in the order of their grants. */
  readonly #borrowers = new Map<string, SortedRuns>();
  #slots = 0;
  #starts = 0;

  start(demand: Demand, { atMs, startedAtMs, lender = null }: Start): void {
    this.end(demand.id);
    this.#starts += 1;
    const standing = { stopping: false, stuck: false, lender, order: this.#starts };
    const run = { demand, atMs, startedAtMs, ...standing };
    this.#runs.set(demand.id, run);
    this.#note(run);
  }

  started(id: string, atMs: number): void {
    this.change(id, () => ({ startedAtMs: atMs }));
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
    this.#runs.delete(id);
    this.#forget(run);
    this.#dropEmptyGroupsOf(run);
  }

  change(id: string, change: (run: PlacedRun) => Partial<PlacedRun>): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    const next = { ...run, ...change(run) };
    this.#runs.set(id, next);
    this.#forget(run);
    this.#note(next);
    this.#dropEmptyGroupsOf(run);
  }

  #note(run: PlacedRun): void {
    const { demand } = run;
    this.#slots += demand.slots;
    if (run.stopping) this.#stopping.set(demand.id, run);
    if (demand.timeLimitMs !== null) this.#limitedOf(run).add(run);
    groupIn(this.#jobs, demand.job).add(run);
    groupIn(this.#workspaces, demand.workspace).add(run);
    if (isEvictable(run)) groupIn(this.#evictable, demand.priority).add(run);
    if (run.lender !== null) this.#borrowersOf(run.lender).add(run);
  }

  #forget(run: PlacedRun): void {
    const { demand } = run;
    this.#slots -= demand.slots;
    this.#stopping.delete(demand.id);
    if (demand.timeLimitMs !== null) this.#limitedOf(run).remove(run);
    this.#jobs.get(demand.job)?.remove(run);
    this.#workspaces.get(demand.workspace)?.remove(run);
    if (isEvictable(run)) this.#evictable.get(demand.priority)?.remove(run);
    if (run.lender !== null) this.#borrowersOf(run.lender).remove(run);
  }

  #borrowersOf(lender: string): SortedRuns {
    const borrowers = this.#borrowers.get(lender) ?? new SortedRuns((a, b) => a.order - b.order);
    this.#borrowers.set(lender, borrowers);
    return borrowers;
  }

  #dropEmptyGroupsOf({ demand: { job, workspace, priority }, lender }: PlacedRun): void {
    if (this.#jobs.get(job)?.byAge.size === 0) this.#jobs.delete(job);
    if (this.#workspaces.get(workspace)?.byAge.size === 0) this.#workspaces.delete(workspace);
    if (this.#evictable.get(priority)?.byAge.size === 0) this.#evictable.delete(priority);
    if (lender !== null && this.#borrowers.get(lender)?.size === 0) this.#borrowers.delete(lender);
  }

  #limitedOf({ startedAtMs }: PlacedRun): SortedRuns {
    return startedAtMs === null ? this.#limitedLater : this.#limited;
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

  /** In the order in which they got their places. */
  all(): Iterable<PlacedRun> {
    return this.#runs.values();
  }

  /** Those whose slots are free soon. */
  get stoppingRuns(): readonly PlacedRun[] {
    return [...this.#stopping.values()].filter(({ stuck }) => !stuck);
  }

  /** Those that passed this run on slots that were reserved for it, in the order of their grants. */
  borrowersFrom(lender: string): Iterable<PlacedRun> {
    return this.#borrowers.get(lender)?.forwards() ?? [];
  }

  /** Those with a time limit, the one that ends first before others. */
  *soonestToEnd(nowMs: number): Generator<PlacedRun> {
    const later = this.#limitedLater.forwards()[Symbol.iterator]();
    let next = later.next();
    for (const run of this.#limited.forwards()) {
      for (
        ;
        next.done !== true && nowMs + timeLimitOf(next.value) < endOf(run);
        next = later.next()
      ) {
        yield next.value;
      }
      yield run;
    }
    for (; next.done !== true; next = later.next()) yield next.value;
  }

  get jobs(): Iterable<string> {
    return this.#jobs.keys();
  }

  slotsOf(job: string): number {
    return this.#jobs.get(job)?.slots ?? 0;
  }

  /** Without the runs that were asked to stop. */
  stayingSlotsOf(job: string): number {
    return this.#jobs.get(job)?.stayingSlots ?? 0;
  }

  countOf(job: string): number {
    return this.#jobs.get(job)?.byAge.size ?? 0;
  }

  /** One of the placed runs of a job. */
  sampleOf(job: string): Demand | undefined {
    for (const { demand } of this.runsOf(job)) return demand;
    return undefined;
  }

  /** The newest first. */
  runsOf(job: string): Iterable<PlacedRun> {
    return this.#jobs.get(job)?.byAge.backwards() ?? [];
  }

  slotsOfWorkspace(workspace: string): number {
    return this.#workspaces.get(workspace)?.slots ?? 0;
  }

  /** Without the runs that were asked to stop. */
  stayingSlotsOfWorkspace(workspace: string): number {
    return this.#workspaces.get(workspace)?.stayingSlots ?? 0;
  }

  /** The newest first. */
  runsOfWorkspace(workspace: string): Iterable<PlacedRun> {
    return this.#workspaces.get(workspace)?.byAge.backwards() ?? [];
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
      yield* this.#evictable.get(priority)?.byAge.backwards() ?? [];
    }
  }
}

/** The time at which a run ends at the latest, as far as it is known; infinite without a time limit. */
export function endsAtMs({ demand, startedAtMs, stuck }: PlacedRun, nowMs: number): number {
  if (demand.timeLimitMs === null || stuck) return Number.POSITIVE_INFINITY;
  return Math.max(nowMs, (startedAtMs ?? nowMs) + demand.timeLimitMs);
}

/** Returns the end of a started run with a time limit. */
function endOf({ demand, startedAtMs }: PlacedRun): number {
  return (startedAtMs ?? 0) + (demand.timeLimitMs ?? 0);
}

function timeLimitOf({ demand }: PlacedRun): number {
  return demand.timeLimitMs ?? 0;
}

function isEvictable({ demand, stopping, stuck }: PlacedRun): boolean {
  return demand.preemptible && !stopping && !stuck;
}

function groupIn<Key>(groups: Map<Key, Group>, key: Key): Group {
  const group = groups.get(key) ?? new Group();
  groups.set(key, group);
  return group;
}
