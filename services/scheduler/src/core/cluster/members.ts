import type { Agent } from "./state.ts";

/** The agents of each pool that were not removed. */
export class Members {
  readonly #pools = new Map<string, Set<string>>();

  of(pool: string): ReadonlySet<string> {
    return this.#pools.get(pool) ?? none;
  }

  note({ id, joined, status }: Agent, before: Agent | undefined): void {
    if (before !== undefined) this.#pools.get(before.joined.pool)?.delete(id);
    if (status === "removed") return;
    const members = this.#pools.get(joined.pool) ?? new Set<string>();
    this.#pools.set(joined.pool, members.add(id));
  }
}

const none: ReadonlySet<string> = new Set();
