/** The content of the cluster in numbers for the operator: without ids, so that they are few in a large cluster. */
import { WaitCode } from "@trainyard/contracts/events";
import type { Cluster } from "./cluster.ts";
import type { Allocation } from "./state.ts";

export type Waiting = {
  readonly pool: string;
  readonly code: WaitCode;
  readonly runs: number;
  readonly oldestMs: number;
};

type RunState = "waiting" | "launching" | "running" | "stopping";
type JobState = "waiting" | "running";

export type Census = {
  readonly waiting: readonly Waiting[];
  readonly runs: readonly {
    readonly pool: string;
    readonly state: RunState;
    readonly count: number;
  }[];
  readonly jobs: readonly {
    readonly pool: string;
    readonly state: JobState;
    readonly count: number;
  }[];
  readonly heldSlots: ReadonlyMap<string, number>;
};

/** Visits all allocations that have not ended. */
export function censusOf(cluster: Pick<Cluster, "allocations">, nowMs: number): Census {
  const waiting = new Map<string, Waiting>();
  const runs = new Counted<RunState>();
  const jobs = new Map<string, { readonly pool: string; readonly state: JobState }>();
  const heldSlots = new Map<string, number>();
  for (const one of cluster.allocations.values()) {
    const { pool } = one.resources;
    runs.add(pool, stateOf(one));
    if (one.grant === null) addTo(waiting, one, nowMs);
    const isKnown = jobs.get(one.job)?.state === "running";
    if (!isKnown) jobs.set(one.job, { pool, state: one.grant === null ? "waiting" : "running" });
    const held = one.grant?.placements.reduce((sum, { slots }) => sum + slots.length, 0) ?? 0;
    heldSlots.set(pool, (heldSlots.get(pool) ?? 0) + held);
  }
  const ofJobs = new Counted<JobState>();
  for (const { pool, state } of jobs.values()) ofJobs.add(pool, state);
  return { waiting: [...waiting.values()], runs: runs.all, jobs: ofJobs.all, heldSlots };
}

/** Returns for how long a run has waited: the delay before a repeated run is no wait. */
export function waitedMs(
  { queuedAtMs, notBeforeMs }: Pick<Allocation, "queuedAtMs" | "notBeforeMs">,
  nowMs: number,
): number {
  return Math.max(0, nowMs - Math.max(queuedAtMs, notBeforeMs));
}

function addTo(waiting: Map<string, Waiting>, allocation: Allocation, nowMs: number): void {
  const { pool } = allocation.resources;
  const code = allocation.wait?.code ?? WaitCode.UNSPECIFIED;
  const key = `${pool} ${code}`;
  const { runs = 0, oldestMs = 0 } = waiting.get(key) ?? {};
  const ms = waitedMs(allocation, nowMs);
  waiting.set(key, { pool, code, runs: runs + 1, oldestMs: Math.max(oldestMs, ms) });
}

function stateOf({ grant, started, stop }: Allocation): RunState {
  if (grant === null) return "waiting";
  if (stop !== null) return "stopping";
  return started ? "running" : "launching";
}

class Counted<State extends string> {
  readonly #counts = new Map<
    string,
    { readonly pool: string; readonly state: State; count: number }
  >();

  add(pool: string, state: State): void {
    const key = `${pool} ${state}`;
    const counted = this.#counts.get(key) ?? { pool, state, count: 0 };
    counted.count += 1;
    this.#counts.set(key, counted);
  }

  get all() {
    return [...this.#counts.values()];
  }
}
