/**
 * A search as a state machine over its stream `search-<experiment>`: unknown → running → completed. `completed` is
 * final. `apply` changes the state in place, through an undo log. `decide` tries events out and undoes them, so that a
 * decision changes nothing until its events are applied.
 *
 * A decision costs about as much among 100,000 trials as among 1,000. The exception is a best trial with invalid
 * hyperparameters, for which all trials are visited once.
 */
import { isRejection, type Rejection } from "@trainyard/kernel";
import { applyEvent } from "./apply.ts";
import type { SearchCommand } from "./commands.ts";
import { decide } from "./decide.ts";
import type { SearchEvent } from "./events.ts";
import { hashOf } from "./hash.ts";
import { decodeSearch, encodeSearch } from "./snapshot.ts";
import { newSearch, type SearchState } from "./state.ts";
import type { TriedSearch } from "./tried-search.ts";
import { UndoLog } from "./undo-log.ts";

export class SearchMachine implements TriedSearch {
  /** The current state, which is changed in place: read it before the next event is applied. */
  readonly state: SearchState;
  readonly #undo = new UndoLog();

  constructor(state: SearchState = newSearch()) {
    this.state = state;
  }

  /** Returns the search with these events. */
  static of(events: Iterable<SearchEvent>): SearchMachine {
    const machine = new SearchMachine();
    for (const event of events) {
      machine.apply(event);
      machine.keep();
    }
    return machine;
  }

  /** Restores a search from a snapshot; null if the snapshot has another format. */
  static restored(snapshot: string): SearchMachine | null {
    const state = decodeSearch(snapshot);
    return state === null ? null : new SearchMachine(state);
  }

  /** The number of applied events. */
  get version(): number {
    return this.state.version;
  }

  /** Applies an event; throws on an event that cannot follow, without any change. */
  apply(event: SearchEvent): void {
    const before = this.#undo.length;
    try {
      applyEvent(this.state, event, this.#undo);
    } catch (error) {
      this.#undo.backTo(before);
      throw error;
    }
  }

  /** Returns the events that a command leads to, without applying them. */
  decide(command: SearchCommand): readonly SearchEvent[] | Rejection {
    return this.tryOut(() => decide(this, command));
  }

  /** Decides on a command and applies the events. */
  take(command: SearchCommand): readonly SearchEvent[] | Rejection {
    const decided = this.decide(command);
    if (isRejection(decided)) return decided;
    for (const event of decided) this.apply(event);
    return decided;
  }

  /** Returns the result of `look` and undoes its changes. */
  tryOut<Result>(look: (undo: UndoLog) => Result): Result {
    const before = this.#undo.length;
    try {
      return look(this.#undo);
    } finally {
      this.#undo.backTo(before);
    }
  }

  /** Undoes everything that was applied after the last `keep`. */
  undo(): void {
    this.#undo.backTo(0);
  }

  /** Makes all applied events permanent. */
  keep(): void {
    this.#undo.forget();
  }

  /** Returns the whole state as JSON text for `restored`. */
  snapshot(): string {
    return encodeSearch(this.state);
  }

  /** Returns a hash of the whole state, for comparing machines. */
  digest(): string {
    const text = this.snapshot();
    return `${text.length.toString(16)}-${hashOf(text).toString(16).padStart(8, "0")}`;
  }
}
