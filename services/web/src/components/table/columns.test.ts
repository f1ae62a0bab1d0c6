import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Column,
  fittedLayout,
  layoutText,
  placeColumns,
  readLayout,
  withMoved,
  withPinned,
  withShare,
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

test("columns are placed one after the other, a chosen share by the width of the table", () => {
  const layout = [{ id: "name", share: 300 }, { id: "id" }];
  const at = (width: number) =>
    placeColumns(columns, layout, { from: 32, width }).map((one) => [one.left, one.width]);
  expect(at(1_032)).toEqual([
    [32, 300],
    [332, 64],
  ]);
  expect(at(532)).toEqual([
    [32, 150],
    [182, 64],
  ]);
});

const flexible = (id: string, width: number, min: number) => ({ ...column(id, width), min });
const sharing = [column("id", 60), flexible("name", 200, 140), flexible("owner", 100, 60)];
const all = sharing.map(({ id }) => ({ id }));

test("columns share the width that the others leave, each at least its minimum", () => {
  const widths = (width: number) => placeColumns(sharing, all, { width }).map((one) => one.width);
  expect(widths(660)).toEqual([60, 400, 200]);
  expect(widths(270)).toEqual([60, 140, 70]);
  expect(widths(100)).toEqual([60, 140, 60]);
});

test("columns that do not fit are left out, the least important first, and are named", () => {
  const fitted = (width: number, layout = all) => {
    const { layout: kept, hidden } = fittedLayout(sharing, layout, ["id", "owner"], { width });
    return [kept.map(({ id }) => id), hidden.map(({ id }) => id)];
  };
  expect(fitted(260)).toEqual([["id", "name", "owner"], []]);
  expect(fitted(259)).toEqual([["name", "owner"], ["id"]]);
  expect(fitted(150)).toEqual([["name"], ["id", "owner"]]);
  expect(fitted(10)).toEqual([["name"], ["id", "owner"]]);
});

test("a dragged edge follows the pointer: the columns left of it keep their width", () => {
  const room = { width: 1_000 };
  const before = placeColumns(sharing, all, room);
  const layout = withWidth(all, before, "name", 300, room);
  expect(layout).toEqual([{ id: "id" }, { id: "name", share: 300 }, { id: "owner" }]);
  const after = placeColumns(sharing, layout, room).map((one) => one.width);
  expect(after).toEqual([60, 300, 640]);
  const last = withWidth(all, before, "owner", 200, room);
  expect(placeColumns(sharing, last, room).map((one) => one.width)).toEqual([60, 626, 200]);
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
  const layout = [{ id: "id", pinned: true }, { id: "name" }, { id: "state", share: 90 }];
  const pinned = withPinned(layout, "state", true);
  expect(pinned.map(({ id }) => id)).toEqual(["id", "state", "name"]);
  expect(withPinned(pinned, "id", false)).toEqual([
    { id: "state", share: 90, pinned: true },
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

test("a share stays within its bounds, and can be given back", () => {
  expect(withShare([{ id: "id" }], "id", 3)).toEqual([{ id: "id", share: 10 }]);
  expect(withShare([{ id: "id", share: 300 }], "id", undefined)).toEqual([{ id: "id" }]);
});

test("a wrongly encoded text has no column", () => {
  expect(readLayout("")).toBeNull();
  expect(readLayout("%E0%A4%A,@12,**")).toBeNull();
});

test("a layout is read back from the URL as it was written", () => {
  const choice = fc.record(
    {
      id: fc.string({ minLength: 1, unit: "grapheme" }),
      share: fc.integer({ min: 10, max: 1000 }),
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
