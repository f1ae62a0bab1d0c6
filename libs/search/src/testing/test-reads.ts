/**
 * What a decision costs, as the number of values of a search's state that it reads: the same on every machine, however busy.
 * Reading it through proxies changes nothing but the count: what is written through one is the thing itself.
 */

import type { SearchCommand } from "../commands.ts";
import { searchDecider } from "../decider.ts";
import type { SearchEvent } from "../events.ts";
import type { SearchState } from "../state.ts";

const behind = new WeakMap<object, unknown>();

function plain(value: unknown): unknown {
  return value !== null && typeof value === "object" ? (behind.get(value) ?? value) : value;
}

function counting<Value>(value: Value, count: () => void): Value {
  const target = plain(value);
  if (target === null || typeof target !== "object") return value;
  const proxy = new Proxy(target, {
    get(from, key) {
      count();
      return counting(Reflect.get(from, key) as unknown, count);
    },
    set: (to, key, item) => Reflect.set(to, key, plain(item)),
  });
  behind.set(proxy, target);
  return proxy as Value;
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
