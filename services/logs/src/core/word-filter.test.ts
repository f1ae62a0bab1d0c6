import fc from "fast-check";
import { expect, test } from "vitest";
import { filterOf, hashesOf, mayHave } from "./word-filter.ts";

test("a filter contains every word that was added to it", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "binary", maxLength: 12 }), { maxLength: 30 }),
      (words) => {
        const filter = filterOf(new Set(words));
        expect(words.every((word) => mayHave(filter, word))).toBe(true);
      },
    ),
  );
});

test("a filter reports fewer than two in a hundred of the words that were never added", () => {
  const words = Array.from({ length: 20_000 }, (_, n) => String(n));
  const filter = filterOf(new Set(words));
  expect(filter.length).toBe(25_000);
  const others = Array.from({ length: 20_000 }, (_, n) => String(100_000 + n));
  const wrong = others.filter((word) => mayHave(filter, word)).length;
  expect(wrong).toBeLessThan(400);
});

test("the hashes of a word never change, since filters are stored", () => {
  expect(hashesOf("needle")).toEqual([1_909_035_086, 3_771_292_992, 5_633_550_898, 7_495_808_804]);
  expect(hashesOf("éσ")).toEqual([3_993_359_891, 4_986_656_160, 5_979_952_429, 6_973_248_698]);
});
