import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Entry,
  entriesBetween,
  entryAt,
  inserted,
  placeOf,
  type Ranking,
  removed,
  sizeOf,
} from "./ranking.ts";

const values = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 80 });

const listOf = (ranking: Ranking): Entry[] =>
  Array.from({ length: sizeOf(ranking) }, (_, place) => entryAt(ranking, place) as Entry);

const sorted = (entries: readonly Entry[]): Entry[] =>
  [...entries].sort((a, b) => a.value - b.value || a.order - b.order);

test("holds what was inserted and not removed, in order, with its places", () => {
  fc.assert(
    fc.property(values, fc.array(fc.nat()), (given, leaving) => {
      let entries = given.map((value, order) => ({ value, order, trial: order + 1 }));
      let ranking = entries.reduce<Ranking>(inserted, null);
      for (const pick of leaving) {
        const entry = entries[pick % Math.max(1, entries.length)];
        if (entry === undefined) break;
        entries = entries.filter((other) => other !== entry);
        ranking = removed(ranking, entry);
      }
      const expected = sorted(entries);
      expect(listOf(ranking)).toEqual(expected);
      expect(expected.map((entry) => placeOf(ranking, entry))).toEqual(expected.map((_, i) => i));
    }),
  );
});

test("gives any stretch of it", () => {
  fc.assert(
    fc.property(
      values,
      fc.integer({ min: -5, max: 90 }),
      fc.nat({ max: 40 }),
      (given, from, of) => {
        const ranking = given
          .map((value, order) => ({ value, order, trial: order + 1 }))
          .reduce<Ranking>(inserted, null);
        const wanted = listOf(ranking).slice(Math.max(0, from), Math.max(0, from + of));
        expect(entriesBetween(ranking, from, from + of)).toEqual(wanted);
      },
    ),
  );
});

test("an entry that is not there is removed without a trace", () => {
  const ranking = inserted(null, { value: 1, order: 0, trial: 1 });
  expect(listOf(removed(ranking, { value: 1, order: 1, trial: 2 }))).toEqual(listOf(ranking));
  expect(removed(null, { value: 1, order: 1, trial: 2 })).toBe(null);
});

test("stays balanced, whatever comes in and goes out in order", () => {
  const depth = (ranking: Ranking): number =>
    ranking === null ? 0 : 1 + Math.max(depth(ranking[2]), depth(ranking[3]));
  let ranking: Ranking = null;
  for (let n = 0; n < 4_096; n += 1) ranking = inserted(ranking, { value: n, order: 0, trial: n });
  expect(depth(ranking)).toBeLessThanOrEqual(24);
  for (let n = 0; n < 4_000; n += 1) ranking = removed(ranking, { value: n, order: 0, trial: n });
  expect(sizeOf(ranking)).toBe(96);
  expect(depth(ranking)).toBeLessThanOrEqual(12);
});
