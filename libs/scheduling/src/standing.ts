/** The slots and runs that jobs and workspaces hold, including the decisions of the current pass. */
import type { Demand } from "./demand.ts";
import type { PlacedRun, PlacedRuns } from "./placed.ts";

export class Standing {
  readonly #placed: PlacedRuns;
  readonly #jobs = new Map<string, { slots: number; runs: number; latestGrant: number }>();
  #grants = 0;
  readonly #workspaces = new Map<string, number>();
  /** The runs that this pass asks to stop, and their slots by job and by workspace. */
  readonly #stopped = {
    ids: new Set<string>(),
    jobs: new Map<string, number>(),
    workspaces: new Map<string, number>(),
  };

  readonly #exemptMs: number;
  readonly #nowMs: number;

  constructor(placed: PlacedRuns, { preemptExemptMs = 0, nowMs = 0 } = {}) {
    this.#placed = placed;
    this.#exemptMs = preemptExemptMs;
    this.#nowMs = nowMs;
  }

  grant({ job, workspace, slots }: Demand): void {
    this.#grants += 1;
    const { slots: held, runs } = this.#jobs.get(job) ?? { slots: 0, runs: 0 };
    this.#jobs.set(job, { slots: held + slots, runs: runs + 1, latestGrant: this.#grants });
    add(this.#workspaces, workspace, slots);
  }

  /** Records that this pass asks the run to stop. */
  stop({ demand }: PlacedRun): void {
    const { ids, jobs, workspaces } = this.#stopped;
    ids.add(demand.id);
    add(jobs, demand.job, demand.slots);
    add(workspaces, demand.workspace, demand.slots);
  }

  /** Whether asking the run to stop has no effect: it was asked before, or it is stuck. */
  isStopping({ demand, stopping, stuck }: PlacedRun): boolean {
    return stopping || stuck || this.#stopped.ids.has(demand.id);
  }

  /** Whether the run may make room for another: now, or with `exempt` at the end of its exemption. */
  mayStop(run: PlacedRun, exempt: boolean): boolean {
    const { preemptible, slots } = run.demand;
    if (!preemptible || slots === 0 || this.isStopping(run)) return false;
    return this.exemptUntilMs(run) > this.#nowMs === exempt;
  }

  /**
   * A run in preparation is not exempt: it loses least. A run on slots that are reserved for another was started on the
   * condition that it makes room at any time.
   */
  exemptUntilMs({ startedAtMs, checkpointed, lender }: PlacedRun): number {
    if (startedAtMs === null || checkpointed || lender !== null) return this.#nowMs;
    return startedAtMs + this.#exemptMs;
  }

  slotsOf(job: string): number {
    return this.#placed.slotsOf(job) + (this.#jobs.get(job)?.slots ?? 0);
  }

  /** The slots of the job's placed runs that were not asked to stop. */
  stayingSlotsOf(job: string): number {
    return this.#placed.stayingSlotsOf(job) - (this.#stopped.jobs.get(job) ?? 0);
  }

  runsOf(job: string): number {
    return this.#placed.countOf(job) + (this.#jobs.get(job)?.runs ?? 0);
  }

  /** The number of the latest grant to the job in this pass, from 1; 0 if there is none. */
  latestGrantOf(job: string): number {
    return this.#jobs.get(job)?.latestGrant ?? 0;
  }

  slotsOfWorkspace(workspace: string): number {
    return this.#placed.slotsOfWorkspace(workspace) + (this.#workspaces.get(workspace) ?? 0);
  }

  /** The slots of the workspace's placed runs that were not asked to stop. */
  stayingSlotsOfWorkspace(workspace: string): number {
    const stopped = this.#stopped.workspaces.get(workspace) ?? 0;
    return this.#placed.stayingSlotsOfWorkspace(workspace) - stopped;
  }
}

function add(slots: Map<string, number>, of: string, more: number): void {
  slots.set(of, (slots.get(of) ?? 0) + more);
}
