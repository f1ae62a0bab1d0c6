/**
 * A list that is never changed: `set` and `push` give a new one that shares all but one path of a 32-way tree with the
 * old. So a fold over a hundred thousand trials keeps every earlier state valid at the cost of three small copies an
 * event. Plain JSON, which snapshots store as it is. (Bagwell, "Ideal hash trees", 2001, §3; as in Clojure's vectors.)
 */
import { assert } from "@trainyard/kernel";

type Node<Item> = readonly (Node<Item> | Item)[];

export type Vector<Item> = {
  readonly size: number;
  /** Levels of inner nodes above the leaves. */
  readonly levels: number;
  readonly root: Node<Item>;
};

const BITS = 5;
const WIDTH = 1 << BITS;
const MASK = WIDTH - 1;

const empty: Vector<never> = { size: 0, levels: 0, root: [] };

export function emptyVector<Item>(): Vector<Item> {
  return empty;
}

export function itemAt<Item>(vector: Vector<Item>, index: number): Item | undefined {
  if (index < 0 || index >= vector.size) return undefined;
  let node = vector.root;
  for (let level = vector.levels; level > 0; level -= 1) {
    node = node[(index >>> (level * BITS)) & MASK] as Node<Item>;
  }
  return node[index & MASK] as Item;
}

export function withItem<Item>(vector: Vector<Item>, index: number, item: Item): Vector<Item> {
  assert(index >= 0 && index < vector.size, `there is an item ${index} of ${vector.size}`);
  return { ...vector, root: replaced(vector.root, vector.levels, index, item) };
}

export function pushed<Item>(vector: Vector<Item>, item: Item): Vector<Item> {
  const full = vector.size === WIDTH ** (vector.levels + 1);
  const levels = full ? vector.levels + 1 : vector.levels;
  const root = full ? [vector.root] : vector.root;
  return { size: vector.size + 1, levels, root: replaced(root, levels, vector.size, item) };
}

function replaced<Item>(node: Node<Item>, level: number, index: number, item: Item): Node<Item> {
  const copy = node.slice();
  const slot = (index >>> (level * BITS)) & MASK;
  const below = (copy[slot] ?? []) as Node<Item>;
  copy[slot] = level === 0 ? item : replaced(below, level - 1, index, item);
  return copy;
}

export function* itemsOf<Item>(vector: Vector<Item>): Generator<Item> {
  for (let index = 0; index < vector.size; index += 1) yield itemAt(vector, index) as Item;
}

/** Whether a vector of numbers in increasing order holds a number. */
export function includesSorted(vector: Vector<number>, wanted: number): boolean {
  let low = 0;
  let high = vector.size - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = itemAt(vector, middle) as number;
    if (found === wanted) return true;
    if (found < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}
