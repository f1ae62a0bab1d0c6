import type { PoolAgents } from "../agents.ts";
import type { Demand } from "../demand.ts";
import type { PlacedRun, PlacedRuns } from "../placed.ts";
import type { KnownJob } from "../pool.ts";
import type { WaitingQueue } from "../queue.ts";
import type { PoolSettings } from "../settings.ts";
import type { Standing } from "../standing.ts";
import type { Rank } from "../walk.ts";

/** The pool at the start of a pass, with the pass's decisions so far. */
export type View = {
  readonly settings: PoolSettings;
  readonly agents: PoolAgents;
  readonly placed: PlacedRuns;
  readonly queue: WaitingQueue;
  readonly standing: Standing;
  /** The jobs with their latest turns before the pass. */
  readonly jobs: ReadonlyMap<string, KnownJob>;
  readonly nowMs: number;
};

/** The order of runs that a policy applies in one pass. */
export interface Ranking {
  /** Returns the run's rank; smaller ranks go first. During a pass a rank may grow, but never shrink. */
  rankOf(demand: Demand): Rank;
  /**
   * The runs that may be stopped to make room for the demand, in the order of choice: those that are still exempt from
   * preemption, or the others. All are preemptible, and none is stopping already.
   */
  victimsFor(demand: Demand, exempt: boolean): Iterable<PlacedRun>;
  /** A key: waiting runs with the same key may stop the same runs. */
  rightOf(demand: Demand): string;
  /** The job's fair share in slots; null if the policy does not divide slots. */
  shareOf(job: string): number | null;
}

/** A pool's policy: it decides which run goes first and which run makes room. */
export interface Policy {
  /** Whether jobs compete with each other, so that each job has its own lanes in the queue. */
  readonly byJob: boolean;
  open(view: View): Ranking;
}
