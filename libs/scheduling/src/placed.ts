/**
 * The runs that hold slots in a pool, and the sums by job and workspace. The runs are kept in every order in which a
 * pass reads them, so that a pass pays only for the runs that it reads.
 */
import type { Demand } from "./demand.ts";
import { schedulingLimits } from "./limits.ts";
import { SortedRuns } from "./sorted-runs.ts";

export type PlacedRun = {
  readonly demand: Demand;
  /** The time when the run was granted its slots. */
  readonly atMs: number;
  /** The time at which the run's processes had started; null until then. */
  readonly startedAtMs: number | null;
  /** Whether the run has made a new checkpoint. */
  readonly checkpointed: boolean;
  /** Whether the run was asked to stop: it ends or is killed in time, so its slots are free soon. */
  readonly stopping: boolean;
  /** Whether processes of the run cannot be killed, so that the end of the run is unknown. */
  readonly stuck: boolean;
  /** The first queued run that it passed, if the run uses slots reserved for that one; else null. */
  readonly lender: string | null;
  /** A number that rises with every run that is granted slots. */
  readonly order: number;
};

export type Start = {
  /** A number that rises with every grant of the pool, such as the position of its event. */
  readonly turn: number;
  readonly atMs: number;
  readonly startedAtMs: number | null;
  readonly checkpointed?: boolean;
  readonly lender?: string | null;
};

/** The runs of a job or workspace with the sums of their slots. */
class Group {
  slots = 0;
  /** The slots of runs that were not asked to stop and are not stuck. */
  stayingSlots = 0;
  /** The runs in the reverse order of their turns to make room: the least often preempted is last, then the newest. */
  readonly byTurn = new SortedRuns(
    (a, b) =>
      preemptionsOf(b) - preemptionsOf(a) ||
      a.atMs - b.atMs ||
      a.demand.arrival - b.demand.arrival ||
      a.order - b.order,
  );

  add(run: PlacedRun): void {
    this.#count(run, 1);
    this.byTurn.add(run);
  }

  remove(run: PlacedRun): void {
    this.#count(run, -1);
    this.byTurn.remove(run);
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
  /** Preemptible runs that are neither stopping nor stuck, by priority. */
  readonly #evictable = new Map<number, Group>();
  readonly #stopping = new Map<string, PlacedRun>();
  /** Runs with a time limit whose processes have started, by their ends. */
  readonly #limited = new SortedRuns((a, b) => endOf(a) - endOf(b) || a.order - b.order);
  /** Runs with a time limit whose processes have not started, by their time limits. */
  readonly #limitedLater = new SortedRuns(
    (a, b) => timeLimitOf(a) - timeLimitOf(b) || a.order - b.order,
  );
  /** The runs on slots reserved for another run, by that run's id, in the order of their grants. */
  readonly #borrowers = new Map<string, SortedRuns>();
  #slots = 0;
  #starts = 0;

  start(
    demand: Demand,
    { atMs, startedAtMs, checkpointed = false, lender = null }: Omit<Start, "turn">,
  ): void {
    this.end(demand.id);
    this.#starts += 1;
    const standing = { stopping: false, stuck: false, lender, order: this.#starts };
    const run = { demand, atMs, startedAtMs, checkpointed, ...standing };
    this.#runs.set(demand.id, run);
    this.#note(run);
  }

  started(id: string, atMs: number): void {
    this.change(id, () => ({ startedAtMs: atMs }));
  }

  stopping(id: string, stopping = true): void {
    if (this.#runs.get(id)?.stopping !== stopping) this.change(id, () => ({ stopping }));
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
    if (this.#jobs.get(job)?.byTurn.size === 0) this.#jobs.delete(job);
    if (this.#workspaces.get(workspace)?.byTurn.size === 0) this.#workspaces.delete(workspace);
    if (this.#evictable.get(priority)?.byTurn.size === 0) this.#evictable.delete(priority);
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

  /** Returns the runs in the order of their grants. */
  all(): Iterable<PlacedRun> {
    return this.#runs.values();
  }

  /** The stopping runs, without stuck ones: their slots become free soon. */
  get stoppingRuns(): readonly PlacedRun[] {
    return [...this.#stopping.values()].filter(({ stuck }) => !stuck);
  }

  /** The runs that passed this run on slots reserved for it, in the order of their grants. */
  borrowersFrom(lender: string): Iterable<PlacedRun> {
    return this.#borrowers.get(lender)?.forwards() ?? [];
  }

  /** Yields the runs with a time limit, the one that ends first before the others. */
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

  /** The slots of the job's runs that were not asked to stop and are not stuck. */
  stayingSlotsOf(job: string): number {
    return this.#jobs.get(job)?.stayingSlots ?? 0;
  }

  countOf(job: string): number {
    return this.#jobs.get(job)?.byTurn.size ?? 0;
  }

  /** Returns one of the placed runs of a job. */
  sampleOf(job: string): Demand | undefined {
    for (const { demand } of this.runsOf(job)) return demand;
    return undefined;
  }

  /** Returns the runs of a job in the order of their turns to make room. */
  runsOf(job: string): Iterable<PlacedRun> {
    return this.#jobs.get(job)?.byTurn.backwards() ?? [];
  }

  slotsOfWorkspace(workspace: string): number {
    return this.#workspaces.get(workspace)?.slots ?? 0;
  }

  /** The slots of the workspace's runs that were not asked to stop and are not stuck. */
  stayingSlotsOfWorkspace(workspace: string): number {
    return this.#workspaces.get(workspace)?.stayingSlots ?? 0;
  }

  /** Returns the runs of a workspace in the order of their turns to make room. */
  runsOfWorkspace(workspace: string): Iterable<PlacedRun> {
    return this.#workspaces.get(workspace)?.byTurn.backwards() ?? [];
  }

  /** The slots of preemptible runs with a worse priority than this. */
  evictableSlots(worseThan: number): number {
    let slots = 0;
    for (const [priority, held] of this.#evictable) if (priority > worseThan) slots += held.slots;
    return slots;
  }

  /** Yields the preemptible runs with a worse priority: the worst priority first, within a priority by their turns. */
  *evictable(worseThan: number): Generator<PlacedRun> {
    const priorities = [...this.#evictable.keys()].filter((priority) => priority > worseThan);
    for (const priority of priorities.sort((a, b) => b - a)) {
      yield* this.#evictable.get(priority)?.byTurn.backwards() ?? [];
    }
  }
}

/** The time at which the run reaches its time limit; infinite if it has none or is stuck. */
export function limitAtMs({ demand, startedAtMs, stuck }: PlacedRun, nowMs: number): number {
  if (demand.timeLimitMs === null || stuck) return Number.POSITIVE_INFINITY;
  return Math.max(nowMs, (startedAtMs ?? nowMs) + demand.timeLimitMs);
}

/** The latest time at which the run has ended: it has to start, and at its time limit it may save a checkpoint. */
export function endsByMs(
  { demand, startedAtMs, stuck }: Pick<PlacedRun, "demand" | "startedAtMs" | "stuck">,
  nowMs: number,
): number {
  if (demand.timeLimitMs === null || stuck) return Number.POSITIVE_INFINITY;
  const startsByMs = startedAtMs ?? nowMs + schedulingLimits.launchAllowanceMs;
  return Math.max(nowMs, startsByMs + demand.timeLimitMs + demand.preemptionTimeoutMs);
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

function preemptionsOf({ demand }: PlacedRun): number {
  return demand.preemptions ?? 0;
}

function groupIn<Key>(groups: Map<Key, Group>, key: Key): Group {
  const group = groups.get(key) ?? new Group();
  groups.set(key, group);
  return group;
}
