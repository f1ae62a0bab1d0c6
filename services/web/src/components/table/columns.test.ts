import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Column,
  layoutText,
  placeColumns,
  readLayout,
  withMoved,
  withPinned,
  withShown,
  withWidth,
} from "./columns.ts";

const column = (id: string, width = 100): Column<object> => ({
  id,
  title: id,
  width,
  cell: () => id,
  text: () => id,
});
const columns = [column("id", 64), column("name", 240), column("state")];

test("columns are placed one after the other, with their chosen widths", () => {
  const placed = placeColumns(columns, [{ id: "name", width: 300 }, { id: "id" }], 32);
  expect(placed.map(({ left, width }) => [left, width])).toEqual([
    [32, 300],
    [332, 64],
  ]);
});

test("a column that is unknown to the table is left out", () => {
  const placed = placeColumns(columns, [{ id: "gone" }, { id: "state" }]);
  expect(placed.map((one) => one.column.id)).toEqual(["state"]);
});

test("a column is shown in last place, and the last shown column cannot be hidden", () => {
  expect(withShown([{ id: "id" }], "state", true)).toEqual([{ id: "id" }, { id: "state" }]);
  expect(withShown([{ id: "id" }], "id", false)).toEqual([{ id: "id" }]);
});

test("a pinned column is left of all others, and an unpinned one moves to the border", () => {
  const layout = [{ id: "id", pinned: true }, { id: "name" }, { id: "state", width: 90 }];
  const pinned = withPinned(layout, "state", true);
  expect(pinned.map(({ id }) => id)).toEqual(["id", "state", "name"]);
  expect(withPinned(pinned, "id", false)).toEqual([
    { id: "state", width: 90, pinned: true },
    { id: "id" },
    { id: "name" },
  ]);
});

test("a column moves only among pinned or only among other columns", () => {
  const layout = [{ id: "id", pinned: true }, { id: "name" }, { id: "state" }];
  expect(withMoved(layout, "state", -1).map(({ id }) => id)).toEqual(["id", "state", "name"]);
  expect(withMoved(layout, "name", -1)).toBe(layout);
  expect(withMoved(layout, "state", 1)).toBe(layout);
});

test("a width stays within its bounds", () => {
  expect(withWidth([{ id: "id" }], "id", 3)).toEqual([{ id: "id", width: 48 }]);
});

test("a wrongly encoded text has no column", () => {
  expect(readLayout("")).toBeNull();
  expect(readLayout("%E0%A4%A,@12,**")).toBeNull();
});

test("a layout is read back from the URL as it was written", () => {
  const choice = fc.record(
    {
      id: fc.string({ minLength: 1, unit: "grapheme" }),
      width: fc.integer({ min: 48, max: 1000 }),
    },
    { requiredKeys: ["id"] },
  );
  const layouts = fc
    .uniqueArray(choice, { selector: ({ id }) => id, minLength: 1 })
    .chain((all) => fc.nat(all.length).map((pinned) => ({ all, pinned })))
    .map(({ all, pinned }) => all.map((one, at) => (at < pinned ? { ...one, pinned: true } : one)));
  fc.assert(
    fc.property(layouts, (layout) => {
      expect(readLayout(layoutText(layout))).toEqual(layout);
    }),
  );
});
