/**
 * A loop over due times that are folded from the log, one for each stream of a category. The fold is saved now and
 * then. No time is lost in a crash, because none depends on a timer in memory.
 */
import type { StoredEvent } from "@trainyard/event-log";
import { categoryOf, idOf } from "@trainyard/kernel";
import { LogFold, type LogFoldSpec } from "../folds/log-fold.ts";
import { type DueDeps, DueLoop, type DueSpec } from "./due-loop.ts";

/** A time by the log's clock, and the position of the event that has set it. */
type Due = { readonly dueMs: number; readonly cause: number };

export type DueFoldSpec = Omit<LogFoldSpec<Due>, "fold"> & {
  readonly category: string;
  /** Returns the time that an event sets, null if it cancels the time, and undefined if it does not concern it. */
  readonly dueOf: (event: StoredEvent, knownMs: number) => number | null | undefined;
};

type ActSpec = Omit<DueSpec, "causeOf">;

/** Returns the fold's description for `LogFold`. */
export function foldOfDues({ category, dueOf, ...rest }: DueFoldSpec): LogFoldSpec<Due> {
  const fold: LogFoldSpec<Due>["fold"] = (dues, event) => {
    if (categoryOf(event.stream) !== category) return;
    const id = idOf(event.stream);
    const dueMs = dueOf(event, dues.get(id)?.dueMs ?? 0);
    if (dueMs === null) dues.delete(id);
    else if (dueMs !== undefined) dues.set(id, { dueMs, cause: event.position });
  };
  return { ...rest, fold };
}

export class DueFold {
  readonly loop: DueLoop;
  readonly #category: string;
  readonly #fold: LogFold<Due>;

  private constructor(category: string, fold: LogFold<Due>, spec: ActSpec, deps: DueDeps) {
    this.#category = category;
    this.#fold = fold;
    const causeOf = (id: string) => fold.entries.get(id)?.cause ?? 0;
    this.loop = new DueLoop({ ...spec, causeOf }, deps);
    this.loop.passed(fold.timeMs);
    for (const [id, { dueMs }] of fold.entries) this.loop.set(id, dueMs);
  }

  /** Opens the fold at the head of the log. */
  static async open(fold: DueFoldSpec, spec: ActSpec, deps: DueDeps): Promise<DueFold> {
    return new DueFold(fold.category, await LogFold.open(deps, foldOfDues(fold)), spec, deps);
  }

  /** Folds an event; a repeated one changes nothing. */
  observe(stored: StoredEvent): void {
    this.#fold.observe(stored);
    this.loop.passed(stored.timeMs);
    if (categoryOf(stored.stream) !== this.#category) return;
    const id = idOf(stored.stream);
    const due = this.#fold.entries.get(id);
    if (due === undefined) this.loop.delete(id);
    else this.loop.set(id, due.dueMs);
  }

  /** The ids that have a time. */
  ids(): Iterable<string> {
    return this.#fold.entries.keys();
  }

  /** The time of a stream; 0 for none. */
  dueMs(id: string): number {
    return this.#fold.entries.get(id)?.dueMs ?? 0;
  }

  /** Drops a time that no event cancels. */
  drop(id: string): void {
    this.#fold.entries.delete(id);
    this.loop.delete(id);
  }

  save(): Promise<void> {
    return this.#fold.save();
  }
}
