/**
 * The runs whose agent is lost that end now: those that would get a place elsewhere in their pool, and those whose
 * agent is lost for too long. Until then the agent may return with the run. A task has no checkpoint from which it
 * would continue elsewhere, and mostly no restart, so its run waits for all of this time. Places are given out on
 * trial: to delayed runs first, some of which follow a run that ended for its place, then to waiting runs and these in
 * the order of the queue. Quotas and other limits do not matter here: the run that follows waits in the queue like any
 * other.
 */
import { parseTaskRunId } from "@trainyard/kernel";
import { fit, type Pool, type PoolAgents, placeOf } from "@trainyard/scheduling";
import type { Cluster } from "../cluster/cluster.ts";
import type { Allocation } from "../cluster/state.ts";
import type { Deadlines } from "./deadlines.ts";
import type { Guard } from "./guard.ts";

type Looking = {
  readonly cluster: Cluster;
  readonly deadlines: Deadlines;
  readonly guard: Guard;
  /** The present time of the monotonic clock. */
  readonly nowMs: number;
};

export class AwayRuns {
  #ending: ReadonlySet<string> = new Set();

  isEnding(allocation: string): boolean {
    return this.#ending.has(allocation);
  }

  /** Looks for places once a beat: the run that follows one that ended is then queued. */
  look({ cluster, deadlines, guard, nowMs }: Looking): void {
    const away = new Set<string>();
    const over = new Set<string>();
    for (const { id, status } of cluster.agents.values()) {
      if (status !== "lost") continue;
      const isOver = deadlines.isAwayTooLong(id, nowMs);
      for (const run of cluster.placedOn(id)) {
        if (isOver) over.add(run);
        else if (parseTaskRunId(run) === null) away.add(run);
      }
    }
    const fitting = away.size === 0 ? away : fittingOf(cluster, guard, away);
    this.#ending = new Set([...over, ...fitting]);
    for (const id of this.#ending) cluster.touchedAllocations.add(id);
  }
}

function fittingOf(cluster: Cluster, guard: Guard, away: ReadonlySet<string>): ReadonlySet<string> {
  const pools = Map.groupBy(
    [...cluster.allocations.values()].filter(({ id, grant }) => grant === null || away.has(id)),
    ({ resources }) => resources.pool,
  );
  const fitting = new Set<string>();
  for (const [name, runs] of pools) {
    const ids = guard.attempt("placement", name, () => placedIn(cluster, name, runs, away));
    for (const id of ids ?? []) fitting.add(id);
  }
  return fitting;
}

function placedIn(
  cluster: Cluster,
  name: string,
  runs: readonly Allocation[],
  away: ReadonlySet<string>,
): readonly string[] {
  const pool = cluster.pool(name);
  if (!runs.some((one) => away.has(one.id) && mayFit(pool.agents, one))) return [];
  const ordered = runs.toSorted(inOrder(cluster, runs));
  const last = ordered.findLastIndex(({ id }) => away.has(id));
  return placed(cluster, pool, ordered.slice(0, last + 1)).filter((id) => away.has(id));
}

/** False for a run that cannot fit, as most in a busy pool: the slots that it has elsewhere would be free for it. */
function mayFit(agents: PoolAgents, { id, resources }: Allocation): boolean {
  return agents.freeSlots > 0 || resources.slots === 0 || agents.sharesOf(id).length > 1;
}

/** The waiting runs of an experiment are before those of it whose agent is lost. */
function inOrder(
  cluster: Cluster,
  runs: readonly Allocation[],
): (a: Allocation, b: Allocation) => number {
  const keyOf = (run: Allocation) => {
    const demand = cluster.demand(run);
    const { priority, arrival } = demand;
    const isAway = run.grant === null ? 0 : 1;
    return [cluster.delayed.has(run.id) ? 0 : 1, priority, placeOf(demand), isAway, arrival];
  };
  const keys = new Map(runs.map((run) => [run, keyOf(run)]));
  return (a, b) => {
    const [one = [], other = []] = [keys.get(a), keys.get(b)];
    return one.map((part, n) => part - (other[n] ?? 0)).find((part) => part !== 0) ?? 0;
  };
}

/** The runs that get a place, each beside the places of those before it. The pool is as before afterwards. */
function placed(cluster: Cluster, pool: Pool, runs: readonly Allocation[]): readonly string[] {
  const undo: (() => void)[] = [];
  try {
    return runs.filter((run) => isPlaced(cluster, pool, run, undo)).map(({ id }) => id);
  } finally {
    for (const back of undo.toReversed()) back();
  }
}

function isPlaced(
  cluster: Cluster,
  { agents, settings }: Pool,
  run: Allocation,
  undo: (() => void)[],
): boolean {
  const { id } = run;
  if (!mayFit(agents, run)) return false;
  const had = agents.sharesOf(id);
  for (const { agent } of had) agents.release(agent, id);
  undo.push(() => {
    for (const { agent, slots } of had) agents.hold(agent, id, slots);
  });
  const shares = fit(agents, cluster.demand(run), settings.fit);
  if (shares === null) {
    undo.pop()?.();
    return false;
  }
  const holder = `next ${id}`;
  for (const { agent, slots } of shares) agents.hold(agent, holder, slots);
  undo.push(() => {
    for (const { agent } of shares) agents.release(agent, holder);
  });
  return true;
}
