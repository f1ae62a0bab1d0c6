import fc from "fast-check";
import { expect, test } from "vitest";
import { leavesHalf } from "./share.ts";

/** Lets each caller take all that it may, one caller after the other, and returns what each has. */
function taken(callers: number, places: { readonly max: number; readonly ofOneMax: number }) {
  const all: number[] = [];
  for (let caller = 0; caller < callers; caller += 1) {
    const others = all.reduce((sum, own) => sum + own, 0);
    let ofOne = 0;
    while (leavesHalf({ ofAll: others + ofOne, ofOne }, places)) ofOne += 1;
    all.push(ofOne);
  }
  return all;
}

test("each caller takes at most half of what the others leave, and at most its share", () => {
  expect(taken(9, { max: 128, ofOneMax: 32 })).toEqual([32, 32, 32, 16, 8, 4, 2, 1, 1]);
  expect(taken(4, { max: 3, ofOneMax: 2 })).toEqual([2, 1, 0, 0]);
  expect(taken(3, { max: 1, ofOneMax: 1 })).toEqual([1, 0, 0]);
});

test("a caller that has none always gets a free place", () => {
  fc.assert(
    fc.property(fc.nat(100), fc.nat(100), fc.integer({ min: 1, max: 100 }), (ofAll, max, most) => {
      expect(leavesHalf({ ofAll, ofOne: 0 }, { max, ofOneMax: most })).toBe(ofAll < max);
    }),
  );
});
