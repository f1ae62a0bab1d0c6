/**
 * The runs whose agent is lost, and whether each would get a place elsewhere in its pool. Such a run ends only if it
 * would, because its agent may return with it. Places are given out on trial: to delayed runs first, some of which
 * follow a run that ended for its place, then to waiting runs and these in the order of the queue. Quotas and other
 * limits do not matter here: the run that follows waits in the queue like any other.
 */
import { fit, type Pool, placeOf } from "@trainyard/scheduling";
import type { Cluster } from "../cluster/cluster.ts";
import type { Allocation } from "../cluster/state.ts";

export class AwayRuns {
  #fitting: ReadonlySet<string> = new Set();

  fits(allocation: string): boolean {
    return this.#fitting.has(allocation);
  }

  /** Looks for places once a beat: the run that follows one that ended is then queued. */
  look(cluster: Cluster): void {
    const away = new Set<string>();
    for (const { id, status } of cluster.agents.values()) {
      if (status === "lost") for (const run of cluster.placedOn(id)) away.add(run);
    }
    this.#fitting = away.size === 0 ? away : fittingOf(cluster, away);
    for (const id of this.#fitting) cluster.touchedAllocations.add(id);
  }
}

function fittingOf(cluster: Cluster, away: ReadonlySet<string>): ReadonlySet<string> {
  const pools = Map.groupBy(
    [...cluster.allocations.values()].filter(({ id, grant }) => grant === null || away.has(id)),
    ({ resources }) => resources.pool,
  );
  const fitting = new Set<string>();
  for (const [name, runs] of pools) {
    if (!runs.some(({ id }) => away.has(id))) continue;
    const ordered = runs.toSorted(inOrder(cluster, runs));
    const last = ordered.findLastIndex(({ id }) => away.has(id));
    const first = ordered.slice(0, last + 1);
    for (const id of placed(cluster, cluster.pool(name), first)) if (away.has(id)) fitting.add(id);
  }
  return fitting;
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

/** Returns the runs that get a place, each beside the places of those before it. The pool is as before afterwards. */
function placed(
  cluster: Cluster,
  { agents, settings }: Pool,
  runs: readonly Allocation[],
): readonly string[] {
  const undo: (() => void)[] = [];
  const fitting = runs.filter((run) => {
    const { id } = run;
    // The slots that a run of several nodes has on other agents would be free for the run that follows.
    const had = agents.sharesOf(id);
    if (agents.freeSlots === 0 && had.length < 2 && run.resources.slots > 0) return false;
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
  });
  for (const back of undo.toReversed()) back();
  return fitting.map(({ id }) => id);
}
