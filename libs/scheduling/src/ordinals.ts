/**
 * Groups of agents by a small number (free slots, for example), each group in the order in which its members joined. A
 * group is a sorted array: an update is a binary search and a memory move, microseconds at 10,000 agents. Because of
 * the order, the choice of an agent depends only on the state.
 */
export class OrdinalGroups {
  readonly #groups = new Map<number, number[]>();
  #highest = -1;

  add(key: number, ordinal: number): void {
    const group = this.#groups.get(key);
    if (group === undefined) {
      this.#groups.set(key, [ordinal]);
      if (key > this.#highest) this.#highest = key;
      return;
    }
    group.splice(lowerBound(group, ordinal), 0, ordinal);
  }

  remove(key: number, ordinal: number): void {
    const group = this.#groups.get(key);
    if (group === undefined) return;
    const at = lowerBound(group, ordinal);
    if (group[at] !== ordinal) return;
    group.splice(at, 1);
    if (group.length > 0) return;
    this.#groups.delete(key);
    if (key !== this.#highest) return;
    this.#highest = Math.max(-1, ...this.#groups.keys());
  }

  /** The highest key of a group with members; -1 if all groups are empty. */
  get highest(): number {
    return this.#highest;
  }

  /** The keys of groups with members, the highest first. */
  descending(): readonly number[] {
    return [...this.#groups.keys()].sort((a, b) => b - a);
  }

  members(key: number): readonly number[] {
    return this.#groups.get(key) ?? [];
  }

  /** Returns the first member of the group with the lowest key at or above `key`. */
  firstFrom(key: number): number | undefined {
    for (let candidate = key; candidate <= this.#highest; candidate += 1) {
      const ordinal = this.#groups.get(candidate)?.[0];
      if (ordinal !== undefined) return ordinal;
    }
    return undefined;
  }
}

function lowerBound(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
