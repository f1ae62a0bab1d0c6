import { assert } from "@trainyard/kernel";

/**
 * The one way to change the state of a search: each change is made in place, and what takes it back is noted. The types
 * of the state are read-only throughout, so that nothing changes without the log.
 */
export class UndoLog {
  readonly #undos: (() => void)[] = [];

  /** Changes noted and not forgotten: a place to go back to. */
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

  /** Takes `count` items out from `at` on, and puts others there. */
  splice<Item>(list: readonly Item[], at: number, count: number, ...others: Item[]): void {
    const items = list as Item[];
    const removed = items.splice(at, count, ...others);
    this.#undos.push(() => items.splice(at, others.length, ...removed));
  }

  /** Takes back all changes made since the log had this length. */
  backTo(length: number): void {
    while (this.#undos.length > length) this.#undos.pop()?.();
  }

  /** The changes made so far are never taken back. */
  forget(): void {
    this.#undos.length = 0;
  }
}
