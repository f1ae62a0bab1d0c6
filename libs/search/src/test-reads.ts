/**
 * What a decision costs, as the number of values of a search's state that it reads: the same on every machine, however busy.
 * The state is plain JSON, so reading it through proxies changes nothing but the count.
 */

import type { SearchCommand } from "./commands.ts";
import { searchDecider } from "./decider.ts";
import type { SearchEvent } from "./events.ts";
import type { SearchState } from "./state.ts";

function counting<Value>(value: Value, count: () => void): Value {
  if (value === null || typeof value !== "object") return value;
  return new Proxy(value, {
    get(target, key) {
      count();
      return counting(Reflect.get(target, key) as unknown, count);
    },
  });
}

/** Reads by deciding on a command and by folding what was decided. The state itself stays plain. */
export function readsOf(
  state: SearchState,
  command: SearchCommand,
  decided: readonly SearchEvent[],
): number {
  let reads = 0;
  const count = (): void => {
    reads += 1;
  };
  searchDecider.decide(counting(state, count), command);
  let after = state;
  for (const event of decided) {
    searchDecider.evolve(counting(after, count), event);
    after = searchDecider.evolve(after, event);
  }
  return reads;
}
