/**
 * A list of which every version stays valid (`versions.ts`): `withItem` and `pushed` give a new one and change the newest in
 * place. One of a hundred thousand trials keeps its items by columns (`rows.ts`). In a snapshot it is plain JSON, and what
 * was read from one can be used as it is.
 */
import { assert } from "@trainyard/kernel";
import { type ItemChange, none, rowsOf, type StoredRows } from "./rows.ts";
import { changed, type Root, rootOf, Version } from "./versions.ts";

/** Opaque, but for its size. */
export type Vector<Item> = { readonly size: number; readonly items?: readonly Item[] };

export interface ItemsRoot<Item> extends Root<ItemChange<Item>> {
  get(index: number): Item;
  copy(): ItemsRoot<Item>;
}

class Items<Item> implements ItemsRoot<Item> {
  readonly list: Item[];

  constructor(list: Item[]) {
    this.list = list;
  }

  get size(): number {
    return this.list.length;
  }

  get(index: number): Item {
    return this.list[index] as Item;
  }

  apply(change: ItemChange<Item>): void {
    const { list } = this;
    const { index, item } = change;
    change.item = index < list.length ? (list[index] as Item) : none;
    if (item === none) list.pop();
    else if (index === list.length) list.push(item);
    else list[index] = item;
  }

  copy(): Items<Item> {
    return new Items(this.list.slice());
  }

  toJSON(): unknown {
    return { size: this.list.length, items: this.list };
  }
}

type ItemsVersion<Item> = Version<ItemsRoot<Item>, ItemChange<Item>>;

/** Versions of what came out of a snapshot, which itself stays as it is. */
const read = new WeakMap<object, ItemsVersion<unknown>>();

function versionOf<Item>(vector: Vector<Item>): ItemsVersion<Item> {
  if (vector instanceof Version) return vector as ItemsVersion<Item>;
  const known = read.get(vector) as ItemsVersion<Item> | undefined;
  if (known !== undefined) return known;
  const root =
    "layout" in vector
      ? rowsOf<Item>(vector as unknown as StoredRows)
      : new Items((vector.items ?? []).slice());
  const version: ItemsVersion<Item> = new Version(root);
  read.set(vector, version as ItemsVersion<unknown>);
  return version;
}

const empty: Vector<never> = new Version<ItemsRoot<never>, ItemChange<never>>(new Items([]));

export function emptyVector<Item>(): Vector<Item> {
  return empty;
}

/** One whose items are kept as the root keeps them. */
export function vectorOf<Item>(root: ItemsRoot<Item>): Vector<Item> {
  return new Version<ItemsRoot<Item>, ItemChange<Item>>(root);
}

export function itemAt<Item>(vector: Vector<Item>, index: number): Item | undefined {
  if (index < 0 || index >= vector.size) return undefined;
  return rootOf(versionOf(vector)).get(index);
}

export function withItem<Item>(vector: Vector<Item>, index: number, item: Item): Vector<Item> {
  if (!(index >= 0 && index < vector.size)) {
    assert(false, `there is an item ${index} of ${vector.size}`);
  }
  return changed(versionOf(vector), { index, item });
}

export function pushed<Item>(vector: Vector<Item>, item: Item): Vector<Item> {
  return changed(versionOf(vector), { index: vector.size, item });
}

export function* itemsOf<Item>(vector: Vector<Item>): Generator<Item> {
  for (let index = 0; index < vector.size; index += 1) yield itemAt(vector, index) as Item;
}
