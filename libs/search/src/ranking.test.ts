import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Entry,
  entriesBetween,
  emptyRanking,
  entryAt,
  insert,
  placeOf,
  type Ranking,
  remove,
} from "./ranking.ts";
import { UndoLog } from "./undo-log.ts";

const values = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 80 });

const listOf = (ranking: Ranking): Entry[] =>
  Array.from({ length: ranking.size }, (_, place) => entryAt(ranking, place) as Entry);

const sorted = (entries: readonly Entry[]): Entry[] =>
  [...entries].sort((a, b) => a.value - b.value || a.order - b.order);

function rankingOf(entries: readonly Entry[], undo = new UndoLog()): Ranking {
  const ranking = emptyRanking();
  for (const entry of entries) insert(undo, ranking, entry);
  return ranking;
}

const numbered = (given: readonly number[]): Entry[] =>
  given.map((value, order) => ({ value, order, trial: order + 1 }));

test("a ranking contains the inserted entries without the removed ones, in order, each at its place", () => {
  fc.assert(
    fc.property(values, fc.array(fc.nat()), (given, leaving) => {
      let entries = numbered(given);
      const ranking = rankingOf(entries);
      for (const pick of leaving) {
        const entry = entries[pick % Math.max(1, entries.length)];
        if (entry === undefined) break;
        entries = entries.filter((other) => other !== entry);
        remove(new UndoLog(), ranking, entry);
      }
      const expected = sorted(entries);
      expect(listOf(ranking)).toEqual(expected);
      expect(expected.map((entry) => placeOf(ranking, entry))).toEqual(expected.map((_, i) => i));
    }),
  );
});

test("a ranking returns any range of its entries", () => {
  fc.assert(
    fc.property(
      values,
      fc.integer({ min: -5, max: 90 }),
      fc.nat({ max: 40 }),
      (given, from, of) => {
        const ranking = rankingOf(numbered(given));
        const wanted = listOf(ranking).slice(Math.max(0, from), Math.max(0, from + of));
        expect(entriesBetween(ranking, from, from + of)).toEqual(wanted);
      },
    ),
  );
});

test("removing an entry that is not in the ranking changes nothing", () => {
  for (const ranking of [rankingOf([{ value: 1, order: 0, trial: 1 }]), emptyRanking()]) {
    const text = JSON.stringify(ranking);
    remove(new UndoLog(), ranking, { value: 1, order: 1, trial: 2 });
    expect(JSON.stringify(ranking)).toBe(text);
  }
});

test("a ranking stays correct when thousands of entries are inserted and removed in order", () => {
  const entryOf = (n: number): Entry => ({ value: n, order: 0, trial: n });
  const ranking = rankingOf(Array.from({ length: 4_096 }, (_, n) => entryOf(n)));
  expect([0, 777, 4_095].map((n) => placeOf(ranking, entryOf(n)))).toEqual([0, 777, 4_095]);
  for (let n = 0; n < 4_000; n += 1) remove(new UndoLog(), ranking, entryOf(n));
  expect(listOf(ranking).map(({ trial }) => trial)).toEqual(
    Array.from({ length: 96 }, (_, i) => 4_000 + i),
  );
});

test("undoing gives each earlier ranking back, blocks included, after any number of changes", () => {
  const changes = fc.array(fc.record({ value: fc.nat({ max: 9 }), leaves: fc.nat({ max: 2 }) }), {
    maxLength: 1_000,
  });
  fc.assert(
    fc.property(changes, fc.nat(), (made, pick) => {
      const undo = new UndoLog();
      // Blocks of this ranking are nearly full, so that inserts split them.
      const ranking = rankingOf(numbered(Array.from({ length: 1_100 }, (_, n) => n % 10)));
      const before: { readonly at: number; readonly text: string }[] = [];
      for (const [order, { value, leaves }] of made.entries()) {
        if (order % 100 === pick % 100) {
          before.push({ at: undo.length, text: JSON.stringify(ranking) });
        }
        const gone = leaves === 0 ? entryAt(ranking, order % (ranking.size + 1)) : undefined;
        if (gone === undefined)
          insert(undo, ranking, { value, order: order + 1_100, trial: order });
        else remove(undo, ranking, gone);
      }
      for (const { at, text } of before.toReversed()) {
        undo.backTo(at);
        expect(JSON.stringify(ranking)).toBe(text);
      }
    }),
    { numRuns: 50 },
  );
});

test("a ranking that is parsed from its JSON is the same", () => {
  const entries = Array.from({ length: 300 }, (_, n) => ({ value: n % 7, order: n, trial: n + 1 }));
  const text = JSON.stringify(rankingOf(entries));
  const read = JSON.parse(text) as Ranking;
  expect(listOf(read)).toEqual(sorted(entries));
  insert(new UndoLog(), read, { value: -1, order: 0, trial: 0 });
  expect(listOf(read)).toHaveLength(301);
});
