import fc from "fast-check";
import { expect, test } from "vitest";
import { freeRows, heldRows, heldText } from "./held.ts";

type Row = { readonly id: string; readonly value: number };

const rowsOf = (ids: string, value = 0): readonly Row[] => [...ids].map((id) => ({ id, value }));
const held = (before: string, latest: string) => heldRows(rowsOf(before), rowsOf(latest, 1), idOf);
const idOf = ({ id }: Row): string => id;
const shown = ({ rows }: { readonly rows: readonly Row[] }): string => rows.map(idOf).join("");

test("new rows above or between the shown ones are held back and counted", () => {
  const list = held("abc", "xaybc");
  expect([shown(list), heldText(list)]).toEqual(["abc", "2 new, show"]);
  expect(list.rows.map(({ value }) => value)).toEqual([1, 1, 1]);
});

test("rows after the last shown one are appended", () => {
  const list = held("abc", "abcde");
  expect([shown(list), heldText(list)]).toEqual(["abcde", ""]);
  expect(shown(held("", "ab"))).toBe("ab");
});

test("above other parts of a page nothing is appended", () => {
  const list = heldRows(rowsOf("a"), rowsOf("ab"), idOf, false);
  expect([shown(list), heldText(list)]).toEqual(["a", "1 new, show"]);
});

test("a removed row keeps its place and its last contents", () => {
  const list = held("abc", "ac");
  expect([shown(list), heldText(list), [...list.gone]]).toEqual(["abc", "1 gone, show", ["b"]]);
  expect(list.rows.map(({ value }) => value)).toEqual([1, 0, 1]);
});

test("rows in another order stay where they were", () => {
  const list = held("abc", "cab");
  expect([shown(list), heldText(list)]).toEqual(["abc", "new order, show"]);
});

test("without anything held back nothing is said", () => {
  expect(heldText(freeRows(rowsOf("ab")))).toBe("");
});

test("no change of a list moves a shown row", () => {
  const ids = fc.uniqueArray(fc.constantFrom(..."abcdefgh")).map((all) => all.join(""));
  fc.assert(
    fc.property(ids, ids, (before, latest) => {
      const list = held(before, latest);
      expect(shown(list).startsWith(before)).toBe(true);
      expect(new Set(shown(list)).size).toBe(list.rows.length);
      const isSame = shown(list) === latest;
      expect(heldText(list) === "").toBe(isSame);
    }),
  );
});
