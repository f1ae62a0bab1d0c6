/**
 * Measures the cost of a decision as the number of state values that it reads, which is the same on every machine. The
 * state is read through proxies, which only count: a value written through a proxy is the value itself.
 */

import type { SearchCommand } from "../commands.ts";
import { Derived } from "../derived.ts";
import { SearchMachine } from "../machine.ts";
import type { SearchEvent } from "../events.ts";

const behind = new WeakMap<object, unknown>();

function plain(value: unknown): unknown {
  return value !== null && typeof value === "object" ? (behind.get(value) ?? value) : value;
}

function counting<Value>(value: Value, count: () => void): Value {
  const target = plain(value);
  if (target === null || typeof target !== "object") return value;
  // Values derived from the plan are not part of the state.
  if (target instanceof Derived) return value;
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

/** Counts the reads of deciding on a command and of applying the events, which remain applied. */
export function readsOf(
  search: SearchMachine,
  command: SearchCommand,
  decided: readonly SearchEvent[],
): number {
  let reads = 0;
  const count = (): void => {
    reads += 1;
  };
  const counted = new SearchMachine(counting(search.state, count));
  counted.decide(command);
  for (const event of decided) counted.apply(event);
  return reads;
}
