/**
 * When what the fold gives a time to is due. Events have the database's time, which is no other host's and may jump; so a
 * time of the fold counts as what remains of it when it is first seen, by the time of the newest event then, and that runs
 * on this process's monotonic clock. A term that begins knows of no time that has passed since the newest event: what it
 * finds under way is due a whole term of it later at most, and never sooner than it was asked for.
 */
import type { Cluster } from "../cluster/cluster.ts";

type Deadline = { readonly atMs: number; readonly dueMs: number };

export class Deadlines {
  #kills = new Map<string, Deadline>();
  #places = new Map<string, Deadline>();
  /** Of agents that get nothing for a while. */
  #trusts = new Map<string, Deadline>();

  /** Takes up what is new in the fold, and lets go of what is over. For every turn before anything is asked. */
  look(cluster: Cluster, nowMs: number): void {
    this.#kills = followed(this.#kills, cluster.stopping, cluster, nowMs, (id) => {
      return cluster.allocations.get(id)?.stop?.killAtMs ?? null;
    });
    this.#places = followed(this.#places, cluster.delayed, cluster, nowMs, (id) => {
      return cluster.allocations.get(id)?.notBeforeMs ?? null;
    });
    this.#trusts = followed(this.#trusts, cluster.cooling, cluster, nowMs, (id) => {
      return cluster.agents.get(id)?.trust.untilMs ?? null;
    });
  }

  mayBeKilled(id: string, nowMs: number): boolean {
    return nowMs >= (this.#kills.get(id)?.dueMs ?? Number.POSITIVE_INFINITY);
  }

  mayBePlaced(id: string, nowMs: number): boolean {
    return nowMs >= (this.#places.get(id)?.dueMs ?? Number.NEGATIVE_INFINITY);
  }

  mayBeTried(agent: string, nowMs: number): boolean {
    return nowMs >= (this.#trusts.get(agent)?.dueMs ?? Number.NEGATIVE_INFINITY);
  }

  /** The next moment at which time alone changes something; null when there is none. */
  next(): number | null {
    const all = [this.#kills, this.#places, this.#trusts].flatMap((one) => [...one.values()]);
    const due = all.map(({ dueMs }) => dueMs);
    return due.length === 0 ? null : due.reduce((first, dueMs) => Math.min(first, dueMs));
  }
}

function followed(
  before: ReadonlyMap<string, Deadline>,
  ids: Iterable<string>,
  { timeMs }: Cluster,
  nowMs: number,
  atMsOf: (id: string) => number | null,
): Map<string, Deadline> {
  const after = new Map<string, Deadline>();
  for (const id of ids) {
    const atMs = atMsOf(id);
    if (atMs === null) continue;
    const known = before.get(id);
    const dueMs = nowMs + Math.max(0, atMs - timeMs);
    after.set(id, known?.atMs === atMs ? known : { atMs, dueMs });
  }
  return after;
}
