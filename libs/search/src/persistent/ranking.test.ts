import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Entry,
  entriesBetween,
  emptyRanking,
  entryAt,
  inserted,
  placeOf,
  type Ranking,
  removed,
} from "./ranking.ts";

const values = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 80 });

const listOf = (ranking: Ranking): Entry[] =>
  Array.from({ length: ranking.size }, (_, place) => entryAt(ranking, place) as Entry);

const sorted = (entries: readonly Entry[]): Entry[] =>
  [...entries].sort((a, b) => a.value - b.value || a.order - b.order);

test("holds what was inserted and not removed, in order, with its places", () => {
  fc.assert(
    fc.property(values, fc.array(fc.nat()), (given, leaving) => {
      let entries = given.map((value, order) => ({ value, order, trial: order + 1 }));
      let ranking = entries.reduce<Ranking>(inserted, emptyRanking);
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
          .reduce<Ranking>(inserted, emptyRanking);
        const wanted = listOf(ranking).slice(Math.max(0, from), Math.max(0, from + of));
        expect(entriesBetween(ranking, from, from + of)).toEqual(wanted);
      },
    ),
  );
});

test("an entry that is not there is removed without a trace", () => {
  const ranking = inserted(emptyRanking, { value: 1, order: 0, trial: 1 });
  expect(listOf(removed(ranking, { value: 1, order: 1, trial: 2 }))).toEqual(listOf(ranking));
  expect(removed(emptyRanking, { value: 1, order: 1, trial: 2 })).toBe(emptyRanking);
});

test("stays right through thousands that come and go in order", () => {
  const entryOf = (n: number): Entry => ({ value: n, order: 0, trial: n });
  let ranking = emptyRanking;
  for (let n = 0; n < 4_096; n += 1) ranking = inserted(ranking, entryOf(n));
  expect([0, 777, 4_095].map((n) => placeOf(ranking, entryOf(n)))).toEqual([0, 777, 4_095]);
  for (let n = 0; n < 4_000; n += 1) ranking = removed(ranking, entryOf(n));
  expect(listOf(ranking).map(({ trial }) => trial)).toEqual(
    Array.from({ length: 96 }, (_, i) => 4_000 + i),
  );
});

test("earlier versions stay as they were, also when two go on from one", () => {
  const changes = fc.array(fc.record({ value: fc.integer({ min: 0, max: 9 }), back: fc.nat() }), {
    maxLength: 120,
  });
  fc.assert(
    fc.property(changes, (made) => {
      const versions: (readonly [Ranking, readonly Entry[]])[] = [[emptyRanking, []]];
      for (const [order, { value, back }] of made.entries()) {
        const [ranking, entries] = versions[versions.length - 1 - (back % versions.length)] ?? [
          emptyRanking,
          [],
        ];
        const entry = { value, order, trial: order };
        const [gone] = back % 3 === 0 ? entries : [];
        versions.push(
          gone === undefined
            ? [inserted(ranking, entry), [...entries, entry]]
            : [removed(ranking, gone), entries.filter((other) => other !== gone)],
        );
      }
      for (const [ranking, entries] of versions) expect(listOf(ranking)).toEqual(sorted(entries));
    }),
    { numRuns: 50 },
  );
});

test("is what it was when it comes out of its JSON", () => {
  const entries = Array.from({ length: 300 }, (_, n) => ({ value: n % 7, order: n, trial: n + 1 }));
  const text = JSON.stringify(entries.reduce<Ranking>(inserted, emptyRanking));
  const read = JSON.parse(text) as Ranking;
  expect(listOf(read)).toEqual(sorted(entries));
  expect(listOf(inserted(read, { value: -1, order: 0, trial: 0 }))).toHaveLength(301);
  expect(JSON.stringify(read)).toBe(text);
});
