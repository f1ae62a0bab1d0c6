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

test("columns are placed one after the other, with the widths that were chosen", () => {
  const placed = placeColumns(columns, [{ id: "name", width: 300 }, { id: "id" }], 32);
  expect(placed.map(({ left, width }) => [left, width])).toEqual([
    [32, 300],
    [332, 64],
  ]);
});

test("a column that the table does not know is left out", () => {
  const placed = placeColumns(columns, [{ id: "gone" }, { id: "state" }]);
  expect(placed.map((one) => one.column.id)).toEqual(["state"]);
});

test("a column is shown as the last, and the last shown column cannot be hidden", () => {
  expect(withShown([{ id: "id" }], "state", true)).toEqual([{ id: "id" }, { id: "state" }]);
  expect(withShown([{ id: "id" }], "id", false)).toEqual([{ id: "id" }]);
});

test("a pinned column is left of all others, and returns to the border when it is let go", () => {
  const layout = [{ id: "id", pinned: true }, { id: "name" }, { id: "state", width: 90 }];
  const pinned = withPinned(layout, "state", true);
  expect(pinned.map(({ id }) => id)).toEqual(["id", "state", "name"]);
  expect(withPinned(pinned, "id", false)).toEqual([
    { id: "state", width: 90, pinned: true },
    { id: "id" },
    { id: "name" },
  ]);
});

test("a column moves among those of its kind only", () => {
  const layout = [{ id: "id", pinned: true }, { id: "name" }, { id: "state" }];
  expect(withMoved(layout, "state", -1).map(({ id }) => id)).toEqual(["id", "state", "name"]);
  expect(withMoved(layout, "name", -1)).toBe(layout);
  expect(withMoved(layout, "state", 1)).toBe(layout);
});

test("a width stays within its bounds", () => {
  expect(withWidth([{ id: "id" }], "id", 3)).toEqual([{ id: "id", width: 48 }]);
});

test("a text that no one encoded gives no column", () => {
  expect(readLayout("")).toBeNull();
  expect(readLayout("%E0%A4%A,@12,**")).toBeNull();
});

test("a layout is read from the URL as it was written", () => {
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
