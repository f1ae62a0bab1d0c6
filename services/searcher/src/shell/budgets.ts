/**
 * Ends searches whose budget of time is spent, which may happen without any report. Due times follow from the searches'
 * states, whose times are those of events.
 */
import { newEventId, type StoredEvent } from "@trainyard/event-log";
import { categoryOf, Fault, idOf, isRejection } from "@trainyard/kernel";
import {
  type Acting,
  DueLoop,
  type EffectSpan,
  type LogFold,
  serviceMeta,
} from "@trainyard/runtime";
import { budgetDueAt } from "@trainyard/search";
import type { SideLoopsDeps } from "./side-loops.ts";
import { searches } from "../streams.ts";

export class Budgets {
  readonly loop: DueLoop;
  readonly #deps: SideLoopsDeps;
  readonly #open: LogFold<number>;
  /** The open searches that have no such budget. */
  readonly #without = new Set<string>();

  constructor(deps: SideLoopsDeps, open: LogFold<number>) {
    this.#deps = deps;
    this.#open = open;
    const spec = { name: "budgets", service: "searcher", lane: 2 };
    const act = (id: string, reachedMs: number, { span }: Acting) => this.#act(id, reachedMs, span);
    const causeOf = (id: string) => open.entries.get(id) ?? 0;
    this.loop = new DueLoop({ ...spec, act, causeOf }, deps);
    this.loop.passed(open.timeMs);
    for (const id of open.entries.keys()) this.loop.ask(id);
  }

  /** Notes an event of the log. */
  observe({ stream, timeMs }: StoredEvent): void {
    this.loop.passed(timeMs);
    if (categoryOf(stream) !== "search") return;
    const id = idOf(stream);
    if (!this.#open.entries.has(id)) {
      this.loop.delete(id);
      this.#without.delete(id);
    } else if (!this.#without.has(id)) this.loop.ask(id);
  }

  /** Sends the time that was reached to the search, which decides whether its budget is spent. */
  async #act(id: string, reachedMs: number, span: EffectSpan): Promise<number | null> {
    const { executor } = this.#deps;
    const { state: shared } = await executor.cache.load(searches, id);
    const dueMs = budgetDueAt(shared.committed().state);
    if (dueMs === "never") this.#without.add(id);
    if (dueMs === null || dueMs === "never") return null;
    if (dueMs > reachedMs) return dueMs;
    const meta = serviceMeta("searcher", { traceparent: span.traceparent });
    const identity = { commitId: newEventId(), meta };
    // The next whole millisecond: the sum of slot-hours may be rounded down.
    const command = { type: "NoteTime", atMs: Math.floor(reachedMs) + 1 } as const;
    await executor.execute(identity, async (work) => {
      const decided = await work.decide(searches, id, command);
      if (!isRejection(decided)) return;
      throw new Fault(decided.rejected, decided.detail, { retry: "never" });
    });
    return null;
  }
}
