/**
 * One search as a machine over its stream `search-<experiment>`: unknown → running → completed. Nothing leaves completed.
 * `apply` changes the state in place; `decide` tries events out and leaves the state as it was.
 * Every decision costs O(log n) in the number of trials, except that an invalid best trial makes the others be looked
 * through once.
 */
import { hashOf } from "./persistent/id-map.ts";
import { isRejection, type Rejection } from "@trainyard/kernel";
import type { SearchCommand } from "./commands.ts";
import { decide } from "./decide.ts";
import type { SearchEvent } from "./events.ts";
import { evolve } from "./evolve.ts";
import { decodeSearch, encodeSearch } from "./snapshot.ts";
import { initialSearch, type SearchState } from "./state.ts";

export class SearchMachine {
  #state: SearchState;
  #kept: SearchState;

  constructor(state: SearchState = initialSearch) {
    this.#state = state;
    this.#kept = state;
  }

  /** The search that has these events. */
  static of(events: Iterable<SearchEvent>): SearchMachine {
    const machine = new SearchMachine();
    for (const event of events) machine.apply(event);
    machine.keep();
    return machine;
  }

  /** Null for a text of another format. */
  static restored(text: string): SearchMachine | null {
    const state = decodeSearch(text);
    return state === null ? null : new SearchMachine(state);
  }

  /** What the search is now. The machine changes it in place: read it before the next event. */
  get state(): SearchState {
    return this.#state;
  }

  /** The events that follow from a command. The search stays as it is until they are applied. */
  decide(command: SearchCommand): readonly SearchEvent[] | Rejection {
    return decide(this.#state, command);
  }

  /** Decides on a command and applies what was decided. */
  take(command: SearchCommand): readonly SearchEvent[] | Rejection {
    const decided = this.decide(command);
    if (isRejection(decided)) return decided;
    for (const event of decided) this.apply(event);
    return decided;
  }

  apply(event: SearchEvent): void {
    this.#state = evolve(this.#state, event);
  }

  /** Takes back what was applied after the last `keep`. */
  undo(): void {
    this.#state = this.#kept;
  }

  /** What has been applied so far is never taken back. */
  keep(): void {
    this.#kept = this.#state;
  }

  snapshot(): string {
    return encodeSearch(this.#state);
  }

  /** A hash of the whole state: two machines that differ in anything have different ones. */
  digest(): string {
    const text = this.snapshot();
    return `${text.length}-${hashOf(text).toString(16)}`;
  }
}
