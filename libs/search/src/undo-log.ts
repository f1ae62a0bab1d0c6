import { assert } from "@trainyard/kernel";

/**
 * All changes of a search's state go through this log: each is made in place, and the log keeps how to undo it. The
 * state's types are read-only, so that no change bypasses the log.
 */
export class UndoLog {
  readonly #undos: (() => void)[] = [];

  /** The number of changes that can be undone; `backTo` accepts it. */
  get length(): number {
    return this.#undos.length;
  }

  /** Sets a field, or an existing item of a list. */
  set<Target extends object, Key extends keyof Target>(
    target: Target,
    key: Key,
    value: Target[Key],
  ): void {
    const before = target[key];
    const isNew = before === undefined && !Object.hasOwn(target, key);
    if (isNew && Array.isArray(target)) assert(false, `a list has an item ${String(key)}`);
    this.#undos.push(() => {
      if (isNew) delete target[key];
      else target[key] = before;
    });
    target[key] = value;
  }

  push<Item>(list: readonly Item[], item: Item): void {
    const items = list as Item[];
    this.#undos.push(() => items.pop());
    items.push(item);
  }

  /** Removes `count` items from index `at` on, and inserts others there. */
  splice<Item>(list: readonly Item[], at: number, count: number, ...others: Item[]): void {
    const items = list as Item[];
    const removed = items.splice(at, count, ...others);
    this.#undos.push(() => items.splice(at, others.length, ...removed));
  }

  /** Undoes all changes made since the log had this length. */
  backTo(length: number): void {
    while (this.#undos.length > length) this.#undos.pop()?.();
  }

  /** Makes the changes so far permanent. */
  forget(): void {
    this.#undos.length = 0;
  }
}
