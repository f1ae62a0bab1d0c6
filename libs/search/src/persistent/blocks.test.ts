import { draw } from "@trainyard/kernel";
import { describe, expect, it } from "vitest";
import { Blocks, type Entry } from "./blocks.ts";

const isBefore = (a: Entry, b: Entry): boolean =>
  a.value < b.value || (a.value === b.value && a.order < b.order);

function listOf(blocks: Blocks): Entry[] {
  const entries: Entry[] = [];
  blocks.each(0, blocks.size, (trial, value, order) => entries.push({ value, order, trial }));
  return entries;
}

/** What comes and goes by chance, beside a plain sorted list: few values, so that many entries are equal in theirs. */
function mixed(seed: number, changes: number, leaving: number): { blocks: Blocks; list: Entry[] } {
  const blocks = new Blocks();
  const list: Entry[] = [];
  for (let n = 0; n < changes; n += 1) {
    const leaves = draw(seed, "leaves", n) < leaving && list.length > 0;
    if (leaves) {
      const [gone] = list.splice(Math.floor(draw(seed, "which", n) * list.length), 1);
      if (gone !== undefined) blocks.remove(gone);
      continue;
    }
    const entry = { value: Math.floor(draw(seed, "value", n) * 40), order: n - 500, trial: n };
    blocks.insert(entry);
    const place = list.findIndex((other) => isBefore(entry, other));
    list.splice(place < 0 ? list.length : place, 0, entry);
  }
  return { blocks, list };
}

describe("blocks", () => {
  it.each([1, 2, 3, 4])("are a sorted list, seed %i", (seed) => {
    const { blocks, list } = mixed(seed, 3_000, 0.1 * seed);
    expect(blocks.size).toBe(list.length);
    expect(listOf(blocks)).toEqual(list);
    for (let place = 0; place < list.length; place += 7) {
      const entry = list[place] as Entry;
      expect([blocks.at(place), blocks.find(entry)]).toEqual([entry, entry]);
      expect(blocks.placeOf(entry)).toBe(place);
      const other = { ...entry, order: entry.order + 0.5 };
      expect([blocks.placeOf(other), blocks.find(other)]).toEqual([place + 1, undefined]);
    }
  });

  it("can be emptied and filled again", () => {
    const { blocks, list } = mixed(5, 1_000, 0);
    for (const entry of list) blocks.remove(entry);
    expect([blocks.size, listOf(blocks)]).toEqual([0, []]);
    for (const entry of list) blocks.insert(entry);
    expect(listOf(blocks)).toEqual(list);
  });
});
