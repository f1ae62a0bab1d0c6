import type { SearchEvent } from "./events.ts";
import type { SearchState } from "./state.ts";
import type { UndoLog } from "./undo-log.ts";

/** A search to which a decision applies events in order to continue from them; the machine undoes them afterwards. */
export interface TriedSearch {
  /** The state after the events applied so far, which is changed in place. */
  readonly state: SearchState;
  apply(event: SearchEvent): void;
  /** Returns the result of `look` and undoes its changes. */
  tryOut<Result>(look: (undo: UndoLog) => Result): Result;
}
