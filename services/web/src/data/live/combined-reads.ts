import type { Query, QueryClient } from "@tanstack/react-query";
import { clock } from "../clock.ts";

/** A read of a group's series is repeated this long after it ended: the server computes each from all points. */
const combinedMs = 5_000;

/** Repeats reads of groups of trials. A group has trials of many experiments, whose live series share this object. */
export class CombinedReads {
  /** The reads that will be repeated. */
  readonly #waiting = new WeakSet<Query>();

  /** Repeats a read that lacks points, once for all callers, and without ending a read in progress. */
  again(queries: QueryClient, query: Query): void {
    if (this.#waiting.has(query)) return;
    this.#waiting.add(query);
    this.#waitForTurn(queries, query);
  }

  #waitForTurn(queries: QueryClient, query: Query): void {
    setTimeout(() => {
      // In the meantime a component may have read it again.
      if (waitMs(query) > 0) {
        this.#waitForTurn(queries, query);
        return;
      }
      this.#waiting.delete(query);
      void queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
    }, waitMs(query));
  }
}

/** Returns how long a read still has to wait; 0 or less means that it is its turn. */
function waitMs({ state }: Query): number {
  if (state.fetchStatus !== "idle") return combinedMs;
  const endedMs = Math.max(state.dataUpdatedAt, state.errorUpdatedAt);
  // A browser's clock may be set back.
  return Math.min(combinedMs, endedMs + combinedMs - clock.nowMs());
}
