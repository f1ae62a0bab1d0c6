import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyVector, itemAt, itemsOf, pushed, type Vector, withItem } from "./vector.ts";

const vectorOf = (items: readonly number[]): Vector<number> =>
  items.reduce<Vector<number>>(pushed, emptyVector());

describe("a vector", () => {
  it("behaves as an array, and its earlier versions stay as they were", () => {
    const edits = fc.array(fc.tuple(fc.boolean(), fc.nat(), fc.integer()), { maxLength: 200 });
    fc.assert(
      fc.property(fc.nat({ max: 1_100 }), edits, (size, changes) => {
        let array = Array.from({ length: size }, (_, i) => i);
        let vector = vectorOf(array);
        const versions: (readonly [Vector<number>, readonly number[]])[] = [[vector, array]];
        for (const [push, at, item] of changes) {
          if (push || array.length === 0) {
            array = [...array, item];
            vector = pushed(vector, item);
          } else {
            const index = at % array.length;
            array = array.with(index, item);
            vector = withItem(vector, index, item);
          }
          versions.push([vector, array]);
        }
        const probe = versions.filter((_, i) => i % 17 === 0 || i === versions.length - 1);
        for (const [kept, items] of probe) expect([...itemsOf(kept)]).toEqual(items);
      }),
      { numRuns: 30 },
    );
  });

  it("has nothing outside its size, and refuses to set there", () => {
    const vector = vectorOf([1, 2]);
    expect([itemAt(vector, -1), itemAt(vector, 2)]).toEqual([undefined, undefined]);
    expect(() => withItem(vector, 2, 0)).toThrow(/there is an item 2 of 2/);
  });

  it("is what it was when it comes out of its JSON, which stays as it is", () => {
    const items = Array.from({ length: 70 }, (_, i) => i);
    const text = JSON.stringify(vectorOf(items));
    const read = JSON.parse(text) as Vector<number>;
    expect([...itemsOf(read)]).toEqual(items);
    expect([...itemsOf(pushed(withItem(read, 0, 9), 7))]).toEqual([9, ...items.slice(1), 7]);
    expect(JSON.stringify(read)).toBe(text);
  });
});
