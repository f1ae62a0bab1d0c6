/**
 * One search as a machine over its stream `search-<experiment>`: unknown → running → completed. Nothing leaves
 * completed. `apply` changes the state in place, through an undo log; `decide` tries events out and takes them back, so
 * that a decision changes nothing until its events are applied. Every decision costs about as much among 100,000 trials
 * as among 1,000, except that an invalid best trial makes the others be looked through once.
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
  /** The current state. It is changed in place: read it before the next event is applied. */
  readonly state: SearchState;
  readonly #undo = new UndoLog();

  constructor(state: SearchState = newSearch()) {
    this.state = state;
  }

  /** The search that has these events. */
  static of(events: Iterable<SearchEvent>): SearchMachine {
    const machine = new SearchMachine();
    for (const event of events) {
      machine.apply(event);
      machine.keep();
    }
    return machine;
  }

  /** From a snapshot; null where that is of another format. */
  static restored(snapshot: string): SearchMachine | null {
    const state = decodeSearch(snapshot);
    return state === null ? null : new SearchMachine(state);
  }

  /** Events that have been applied. */
  get version(): number {
    return this.state.version;
  }

  /** Throws on an event that cannot follow, and is then as it was. */
  apply(event: SearchEvent): void {
    const before = this.#undo.length;
    try {
      applyEvent(this.state, event, this.#undo);
    } catch (error) {
      this.#undo.backTo(before);
      throw error;
    }
  }

  /** The events that follow from a command. The search stays as it is until they are applied. */
  decide(command: SearchCommand): readonly SearchEvent[] | Rejection {
    return this.tryOut(() => decide(this, command));
  }

  /** Decides on a command and applies what was decided. */
  take(command: SearchCommand): readonly SearchEvent[] | Rejection {
    const decided = this.decide(command);
    if (isRejection(decided)) return decided;
    for (const event of decided) this.apply(event);
    return decided;
  }

  /** Takes back what `look` has changed. */
  tryOut<Result>(look: (undo: UndoLog) => Result): Result {
    const before = this.#undo.length;
    try {
      return look(this.#undo);
    } finally {
      this.#undo.backTo(before);
    }
  }

  /** Takes back everything that was applied after the last `keep`. */
  undo(): void {
    this.#undo.backTo(0);
  }

  /** Makes everything that has been applied so far permanent. */
  keep(): void {
    this.#undo.forget();
  }

  /** The whole state as JSON text, for `restored`. */
  snapshot(): string {
    return encodeSearch(this.state);
  }

  /** A hash of the whole state, to compare machines by. */
  digest(): string {
    const text = this.snapshot();
    return `${text.length.toString(16)}-${hashOf(text).toString(16).padStart(8, "0")}`;
  }
}
