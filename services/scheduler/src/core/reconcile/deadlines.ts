/**
 * The deadlines of the fold's times. Events have the database's time, which differs from every host's and may jump. So
 * a time of the fold is measured from the newest event when it is first seen, and then runs on this process's monotonic
 * clock. A new term cannot know how much time has passed since the newest event: a deadline that it finds may come late
 * by up to its whole length, but never early.
 */
import type { Cluster } from "../cluster/cluster.ts";
import { provenAtMs } from "../cluster/judged.ts";
import type { Allocation } from "../cluster/state.ts";
import { limits } from "../../limits.ts";

type Deadline = { readonly atMs: number; readonly dueMs: number };

export class Deadlines {
  #kills = new Map<string, Deadline>();
  #places = new Map<string, Deadline>();
  /** The deadlines of agents that get no runs for a while. */
  #trusts = new Map<string, Deadline>();
  /** The times until which silent agents are waited for. */
  #waits = new Map<string, Deadline>();
  /** The times at which runs of lost agents end. */
  #aways = new Map<string, Deadline>();
  /** The deadlines after which a run has done well on an agent that was distrusted. */
  #proofs = new Map<string, Deadline>();
  /** The deadlines of runs with a time limit. */
  #limits = new Map<string, Deadline>();
  /** The deadlines of pools whose queue will change its order. */
  #passes = new Map<string, Deadline>();
  /** The time of the newest event, and when it was first seen. */
  #newest = { timeMs: 0, seenMs: 0 };

  /** Adds new deadlines of the fold and removes old ones. Called before all other methods in each turn. */
  look(cluster: Cluster, nowMs: number): void {
    this.#kills = followed(this.#kills, cluster.stopping, cluster, nowMs, (id) => {
      return cluster.allocations.get(id)?.stop?.killAtMs ?? null;
    });
    this.#places = followed(this.#places, cluster.delayed, cluster, nowMs, (id) => {
      return cluster.allocations.get(id)?.notBeforeMs ?? null;
    });
    this.#trusts = followed(this.#trusts, cluster.trusts.cooling, cluster, nowMs, (id) => {
      return cluster.agents.get(id)?.trust.untilMs ?? null;
    });
    this.#waits = followed(this.#waits, cluster.awaited, cluster, nowMs, (id) => {
      return cluster.agents.get(id)?.awaited?.untilMs ?? null;
    });
    this.#aways = followed(this.#aways, cluster.agents.keys(), cluster, nowMs, (id) => {
      const { lostAtMs = null } = cluster.agents.get(id) ?? {};
      return lostAtMs === null ? null : lostAtMs + limits.awayMaxMs;
    });
    this.#proofs = followed(this.#proofs, cluster.trusts.distrusted, cluster, nowMs, (id) => {
      return provenAtMs(cluster, id);
    });
    this.#limits = followed(this.#limits, cluster.timed, cluster, nowMs, (id) => {
      return limitAtMs(cluster.allocations.get(id));
    });
    if (cluster.timeMs !== this.#newest.timeMs) {
      this.#newest = { timeMs: cluster.timeMs, seenMs: nowMs };
    }
  }

  /** The present time of the fold, counted on after its newest event. */
  foldMs(nowMs: number): number {
    return this.#newest.timeMs + Math.max(0, nowMs - this.#newest.seenMs);
  }

  hasReachedLimit(id: string, nowMs: number): boolean {
    return nowMs >= (this.#limits.get(id)?.dueMs ?? Number.POSITIVE_INFINITY);
  }

  /** Requests another pass of the pool at a time of the fold; null cancels the request. */
  passAgain(pool: string, atMs: number | null, nowMs: number): void {
    if (atMs === null) this.#passes.delete(pool);
    else {
      // Timers may be early by less than a millisecond.
      const dueMs = nowMs + Math.max(1, atMs - this.foldMs(nowMs));
      this.#passes.set(pool, { atMs, dueMs });
    }
  }

  /** Returns the pools that are due for a pass, each only once. */
  takePasses(nowMs: number): readonly string[] {
    const due = [...this.#passes].filter(([, { dueMs }]) => nowMs >= dueMs).map(([pool]) => pool);
    for (const pool of due) this.#passes.delete(pool);
    return due;
  }

  mayBeKilled(id: string, nowMs: number): boolean {
    return nowMs >= (this.#kills.get(id)?.dueMs ?? Number.POSITIVE_INFINITY);
  }

  mayBePlaced(id: string, nowMs: number): boolean {
    return nowMs >= (this.#places.get(id)?.dueMs ?? Number.NEGATIVE_INFINITY);
  }

  hasWaited(agent: string, nowMs: number): boolean {
    return nowMs >= (this.#waits.get(agent)?.dueMs ?? Number.POSITIVE_INFINITY);
  }

  isAwayTooLong(agent: string, nowMs: number): boolean {
    return nowMs >= (this.#aways.get(agent)?.dueMs ?? Number.POSITIVE_INFINITY);
  }

  mayBeTried(agent: string, nowMs: number): boolean {
    return nowMs >= (this.#trusts.get(agent)?.dueMs ?? Number.NEGATIVE_INFINITY);
  }

  isProven(agent: string, nowMs: number): boolean {
    return nowMs >= (this.#proofs.get(agent)?.dueMs ?? Number.POSITIVE_INFINITY);
  }

  /** The next deadline; null for none. */
  next(): number | null {
    let first = Number.POSITIVE_INFINITY;
    const trusts = [this.#trusts, this.#proofs];
    for (const deadlines of [this.#kills, this.#places, ...trusts, this.#limits, this.#passes]) {
      for (const { dueMs } of deadlines.values()) first = Math.min(first, dueMs);
    }
    return Number.isFinite(first) ? first : null;
  }
}

/** Null for a run without a limit, and for a run that was asked to stop. */
function limitAtMs(allocation: Allocation | undefined): number | null {
  const { startedAtMs = null, stop = null, resources } = allocation ?? {};
  if (startedAtMs === null || resources?.timeLimitMs === undefined) return null;
  // A stop that never becomes a kill (a drain without a deadline) may leave the run alive.
  if (stop !== null && (stop.kill || stop.graceMs !== null)) return null;
  return startedAtMs + resources.timeLimitMs;
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
