/**
 * Replays a recorded search: each recorded input is decided in its recorded state, and the decisions must equal the
 * recorded ones. A model's suggestion must follow from the state on which it is based. The recorded events are applied,
 * so that one difference does not cause others.
 */
import { isRejection } from "@trainyard/kernel";
import type { OfferSuggestion, SearchCommand } from "../commands.ts";
import { SearchMachine } from "../machine.ts";
import type { SearchEvent } from "../events.ts";
import type { SearchState } from "../state.ts";
import { suggestionOf } from "../suggestions.ts";
import { recordedCommand, recordsCancellation } from "./recorded.ts";
import { isSame } from "./same.ts";

export type Difference = {
  /** The version of the search's stream at the difference, from 1. */
  readonly version: number;
  /** The recorded event; null if none was recorded. */
  readonly recorded: SearchEvent | null;
  /** The event that the replay decides; null for none, or the reason if it rejects the input. */
  readonly decided: SearchEvent | string | null;
};

export type Replay = {
  readonly events: number;
  readonly inputs: number;
  /** The number of decided events: proposals, stops, promotions and the completion. */
  readonly decisions: number;
  /** The differences in the order of the stream. */
  readonly differences: readonly Difference[];
};

/** Replays a recorded search from its first event. */
export function replaySearch(events: readonly SearchEvent[]): Replay {
  const search = new SearchMachine();
  let inputs = 0;
  const differences: Difference[] = [];
  const suggestions = new Suggestions(events);
  for (let at = 0; at < events.length; ) {
    const { command, recorded } = stepAt(events, at);
    const decided = command === null ? [] : search.decide(command);
    if (command !== null && command.type !== "CancelSearch") inputs += 1;
    if (isRejection(decided)) {
      // A rejected input cannot be folded, so the replay ends here.
      differences.push({ version: at + 1, recorded: recorded[0] ?? null, decided: decided.detail });
      break;
    }
    differences.push(...suggestions.differencesOf(recorded[0], at));
    differences.push(...differencesOf(decided, recorded, at));
    for (const event of recorded) search.apply(event);
    search.keep();
    suggestions.note(search.state);
    at += recorded.length;
  }
  return { events: events.length, inputs, decisions: events.length - inputs, differences };
}

/** Recomputes a model's suggestions: they are inputs, but each follows from the state on which it is based. */
class Suggestions {
  readonly #restedOn: ReadonlySet<number>;
  readonly #answers = new Map<number, OfferSuggestion | null>();

  constructor(events: readonly SearchEvent[]) {
    this.#restedOn = new Set(
      events.flatMap((event) =>
        event.type === "SuggestionPrepared" ? [event.data.searchVersion] : [],
      ),
    );
  }

  /** The suggestion is computed from the state at once, since the state is changed in place. */
  note(state: SearchState): void {
    if (this.#restedOn.has(state.version)) this.#answers.set(state.version, suggestionOf(state));
  }

  differencesOf(recorded: SearchEvent | undefined, at: number): readonly Difference[] {
    if (recorded?.type !== "SuggestionPrepared") return [];
    const suggestion = this.#answers.get(recorded.data.searchVersion) ?? null;
    if (suggestion === null) return [{ version: at + 1, recorded, decided: null }];
    const { type: _type, ...data } = suggestion;
    const decided: SearchEvent = { type: "SuggestionPrepared", data };
    return isSame(recorded, decided) ? [] : [{ version: at + 1, recorded, decided }];
  }
}

/** Returns a command and all events recorded with it; without a command, an event that no input led to. */
function stepAt(
  events: readonly SearchEvent[],
  at: number,
): { readonly command: SearchCommand | null; readonly recorded: readonly SearchEvent[] } {
  const first = events[at] as SearchEvent;
  const command = recordedCommand(first);
  if (command === null) {
    const canceled = recordsCancellation(first);
    return { command: canceled ? { type: "CancelSearch" } : null, recorded: [first] };
  }
  let end = at + 1;
  while (end < events.length && recordedCommand(events[end] as SearchEvent) === null) end += 1;
  return { command, recorded: events.slice(at, end) };
}

function differencesOf(
  decided: readonly SearchEvent[],
  recorded: readonly SearchEvent[],
  at: number,
): readonly Difference[] {
  const differences: Difference[] = [];
  for (let i = 0; i < Math.max(decided.length, recorded.length); i += 1) {
    const [was = null, is = null] = [recorded[i], decided[i]];
    if (was !== null && is === null && isLaterCancellation(was, recorded, i)) continue;
    if (!isSame(was, is)) differences.push({ version: at + 1 + i, recorded: was, decided: is });
  }
  return differences;
}

/** Whether an event is a cancellation, which has no input event and follows the events before it. */
function isLaterCancellation(
  event: SearchEvent,
  recorded: readonly SearchEvent[],
  at: number,
): boolean {
  return recordsCancellation(event) && at === recorded.length - 1;
}
