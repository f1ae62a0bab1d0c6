/**
 * A map from ids to values that is never changed: `withId` gives a new one that shares all but one path of a 16-way tree
 * over the ids' hashes with the old. Plain JSON, which snapshots store as it is. (Bagwell, "Ideal hash trees", 2001, §3.)
 */
type Entry<Value> = readonly [id: string, value: Value];
type Node<Value> =
  | { readonly entries: readonly Entry<Value>[] }
  | { readonly below: readonly Node<Value>[] };

export type IdMap<Value> = { readonly root: Node<Value> };

const BITS = 4;
const WIDTH = 1 << BITS;
/** A leaf that has more is split, save where the hash has no bits left. */
const LEAF_ENTRIES_MAX = 16;
const LEVELS_MAX = 32 / BITS;

const empty: IdMap<never> = { root: { entries: [] } };

export function emptyIdMap<Value>(): IdMap<Value> {
  return empty;
}

export function valueOfId<Value>({ root }: IdMap<Value>, id: string): Value | undefined {
  const hash = hashOf(id);
  let node = root;
  for (let level = 0; "below" in node; level += 1) {
    node = node.below[slotOf(hash, level)] ?? { entries: [] };
  }
  return node.entries.find(([known]) => known === id)?.[1];
}

/** An id that is there already gets the new value. */
export function withId<Value>({ root }: IdMap<Value>, id: string, value: Value): IdMap<Value> {
  return { root: added(root, 0, [id, value]) };
}

function added<Value>(node: Node<Value>, level: number, entry: Entry<Value>): Node<Value> {
  if ("below" in node) {
    const slot = slotOf(hashOf(entry[0]), level);
    const inner = node.below[slot] ?? { entries: [] };
    return { below: node.below.with(slot, added(inner, level + 1, entry)) };
  }
  const others = node.entries.filter(([id]) => id !== entry[0]);
  if (others.length < LEAF_ENTRIES_MAX || level === LEVELS_MAX) {
    return { entries: [...others, entry] };
  }
  const below = Array.from({ length: WIDTH }, (): Node<Value> => ({ entries: [] }));
  return [...others, entry].reduce<Node<Value>>((split, one) => added(split, level, one), {
    below,
  });
}

function slotOf(hash: number, level: number): number {
  return (hash >>> (level * BITS)) & (WIDTH - 1);
}

/** FNV-1a over UTF-16 code units, 32 bits. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
