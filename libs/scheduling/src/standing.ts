/** What jobs and workspaces hold, with what the pass has granted so far. */
import type { Demand } from "./demand.ts";
import type { PlacedRun, PlacedRuns } from "./placed.ts";

export class Standing {
  readonly #placed: PlacedRuns;
  readonly #jobs = new Map<string, { slots: number; runs: number }>();
  readonly #workspaces = new Map<string, number>();
  readonly #stopping = new Set<string>();

  constructor(placed: PlacedRuns) {
    this.#placed = placed;
  }

  grant({ job, workspace, slots }: Demand): void {
    const known = this.#jobs.get(job) ?? { slots: 0, runs: 0 };
    this.#jobs.set(job, { slots: known.slots + slots, runs: known.runs + 1 });
    this.#workspaces.set(workspace, (this.#workspaces.get(workspace) ?? 0) + slots);
  }

  /** The pass asks the run to stop. */
  stop({ demand }: PlacedRun): void {
    this.#stopping.add(demand.id);
  }

  /** Whether a stop would change nothing: it was asked before, or cannot end. */
  isStopping({ demand, stopping, stuck }: PlacedRun): boolean {
    return stopping || stuck || this.#stopping.has(demand.id);
  }

  slotsOf(job: string): number {
    return this.#placed.slotsOf(job) + (this.#jobs.get(job)?.slots ?? 0);
  }

  runsOf(job: string): number {
    return this.#placed.countOf(job) + (this.#jobs.get(job)?.runs ?? 0);
  }

  slotsOfWorkspace(workspace: string): number {
    return this.#placed.slotsOfWorkspace(workspace) + (this.#workspaces.get(workspace) ?? 0);
  }
}
