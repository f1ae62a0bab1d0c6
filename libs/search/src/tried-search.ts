import type { SearchEvent } from "./events.ts";
import type { SearchState } from "./state.ts";
import type { UndoLog } from "./undo-log.ts";

/** A search that a decision tries its events out on: the machine takes them back when the decision is made. */
export interface TriedSearch {
  /** The state after the events that were applied so far: it is changed in place. */
  readonly state: SearchState;
  apply(event: SearchEvent): void;
  /** Takes back what `look` has changed. */
  tryOut<Result>(look: (undo: UndoLog) => Result): Result;
}
