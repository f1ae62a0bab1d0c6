import { describe, expect, it } from "vitest";
import { emptyVector, itemAt, itemsOf, pushed, type Vector, withItem } from "./vector.ts";
import { changesKept, keepAll, keepSome } from "./versions.ts";

const filled = (size: number): Vector<number> =>
  Array.from({ length: size }, (_, i) => i).reduce<Vector<number>>(pushed, emptyVector());

function changedOften(vector: Vector<number>, times: number): Vector<number> {
  let after = vector;
  for (let n = 0; n < times; n += 1) after = withItem(after, n % after.size, -n);
  return after;
}

describe("a version", () => {
  it("stays valid for so many changes after it, both ways", () => {
    const before = filled(50);
    const after = changedOften(before, changesKept(50));
    expect([...itemsOf(before)]).toEqual(Array.from({ length: 50 }, (_, i) => i));
    expect(itemAt(after, 0)).toBe(-450);
    expect(itemAt(before, 0)).toBe(0);
  });

  it("that is older says so instead of giving what is not its own", () => {
    const before = filled(50);
    changedOften(before, 3 * changesKept(50));
    expect(() => itemAt(before, 0)).toThrow(/before too many changes/);
  });

  it("stays valid through a decision of any size, until the next one", () => {
    const before = filled(50);
    keepAll();
    changedOften(before, 100 * changesKept(50));
    keepSome();
    expect(itemAt(before, 0)).toBe(0);
  });

  it("that is empty is tied to nothing", () => {
    const nothing = emptyVector<number>();
    changedOften(pushed(nothing, 1), 10 * changesKept(1));
    expect([...itemsOf(pushed(nothing, 2))]).toEqual([2]);
    expect(nothing.size).toBe(0);
  });
});
