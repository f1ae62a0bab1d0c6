/**
 * Watches the clock for searches with a budget of time, which may be spent without any report. Due times follow from
 * the searches' states and are not stored; a new leader starts with all searches that may have such a budget.
 */
import { shortNameOf } from "@trainyard/contracts";
import { newEventId, type StoredEvent } from "@trainyard/event-log";
import { categoryOf, type Clock, idOf, isRejection } from "@trainyard/kernel";
import { EffectLoop, type Executor, type Logger, serviceMeta } from "@trainyard/runtime";
import { budgetDueAt } from "@trainyard/search";
import { limits } from "../limits.ts";
import { searches } from "../streams.ts";

type BudgetDeps = {
  readonly executor: Executor;
  readonly clock: Clock;
  readonly logger: Logger;
};

export class Budgets {
  readonly #deps: BudgetDeps;
  readonly #dueMs = new Map<string, number>();
  /** The searches whose state has changed since their budget was read. */
  readonly #changed: Set<string>;
  readonly #without = new Set<string>();
  readonly loop: EffectLoop;

  /** `open` are the searches that are not complete; they include all with a budget of time. */
  constructor(deps: BudgetDeps, open: readonly string[]) {
    this.#deps = deps;
    this.#changed = new Set(open);
    this.loop = new EffectLoop("budgets", deps, () => this.#step());
  }

  /** Notes an event of the log. */
  observe({ stream, type }: StoredEvent): void {
    if (categoryOf(stream) !== "search") return;
    const id = idOf(stream);
    if (shortNameOf(type) === "SearchCompleted") {
      this.#dueMs.delete(id);
      this.#changed.delete(id);
      this.#without.delete(id);
    } else if (!this.#without.has(id)) {
      this.#changed.add(id);
      this.loop.wake();
    }
  }

  /** Returns the milliseconds until the next budget may be spent; null for none. */
  async #step(): Promise<number | null> {
    const { clock } = this.#deps;
    for (const id of [...this.#changed]) await this.#look(id);
    for (const [id, dueMs] of [...this.#dueMs]) {
      if (dueMs <= clock.nowMs()) await this.#note(id);
    }
    if (this.#changed.size > 0) return 0;
    const next = Math.min(...this.#dueMs.values());
    return Number.isFinite(next) ? Math.max(next - clock.nowMs(), limits.budgetAgainMs) : null;
  }

  async #look(id: string): Promise<void> {
    this.#changed.delete(id);
    const { cache } = this.#deps.executor;
    const { state: shared } = await cache.load(searches, id);
    const dueMs = budgetDueAt(shared.committed().state);
    if (dueMs === "never") {
      this.#without.add(id);
    } else if (dueMs === null) {
      this.#dueMs.delete(id);
    } else {
      this.#dueMs.set(id, dueMs);
    }
  }

  /** Sends the time to the search, which decides whether its budget is spent. */
  async #note(id: string): Promise<void> {
    const { executor, clock, logger } = this.#deps;
    this.#dueMs.delete(id);
    const command = { type: "NoteTime", atMs: clock.nowMs() } as const;
    await executor.execute(
      { commitId: newEventId(), meta: serviceMeta("searcher") },
      async (work) => {
        const decided = await work.decide(searches, id, command);
        if (isRejection(decided)) logger.warn({ search: id, ...decided }, "budget_not_looked_at");
      },
    );
    this.#changed.add(id);
  }
}
