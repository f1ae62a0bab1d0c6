import type { PoolAgents } from "../agents.ts";
import type { Demand } from "../demand.ts";
import type { PlacedRun, PlacedRuns } from "../placed.ts";
import type { WaitingQueue } from "../queue.ts";
import type { PoolSettings } from "../settings.ts";
import type { Standing } from "../standing.ts";
import type { Rank } from "../walk.ts";

/** The pool as a pass finds it, with what the pass has decided so far. */
export type View = {
  readonly settings: PoolSettings;
  readonly agents: PoolAgents;
  readonly placed: PlacedRuns;
  readonly queue: WaitingQueue;
  readonly standing: Standing;
  readonly nowMs: number;
};

/** A policy in one pass. */
export interface Ranking {
  /** The run with the smaller rank goes first. During a pass a rank may become larger, never smaller. */
  rankOf(demand: Demand): Rank;
  /**
   * The runs that may be stopped to make room for it, in the order in which they are chosen. All are preemptible, and
   * none was asked to stop before.
   */
  victimsFor(demand: Demand): Iterable<PlacedRun>;
  /** Waiting runs with the same text may stop the same runs. */
  rightOf(demand: Demand): string;
  /** The slots that the job would have of a fair division; null where the policy divides nothing. */
  shareOf(job: string): number | null;
}

/** How a pool decides which run goes first and which one makes room. */
export interface Policy {
  /** Whether jobs compete with each other, so that each has lanes of its own in the queue. */
  readonly byJob: boolean;
  open(view: View): Ranking;
}
