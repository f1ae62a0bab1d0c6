import { expect, test } from "vitest";
import { lineFor } from "./example-lines.ts";
import type { Line } from "./line.ts";
import { tableOf } from "./table-rows.ts";

function line(trial: number, x: readonly number[]): Line {
  const y = x.map((at) => at * trial);
  return lineFor(trial, x, y);
}

test("a table has a row for each x of any line, with empty cells where a line has no bucket", () => {
  const { rows } = tableOf([line(1, [1, 3]), line(2, [2, 3])], [0, 9], { rows: 9, columns: 9 });
  expect(rows).toEqual([
    { x: 1, cells: [1, undefined] },
    { x: 2, cells: [undefined, 4] },
    { x: 3, cells: [3, 6] },
  ]);
});

test("a table counts rows that do not fit, and keeps the first and the last row", () => {
  const x = Array.from({ length: 100 }, (_, index) => index);
  const table = tableOf([line(1, x), line(2, x)], [0, 99], { rows: 5, columns: 1 });
  expect(table).toMatchObject({ columnsLeftOut: 1, rowsLeftOut: 95 });
  expect(table.rows.map(({ x: at }) => at)).toEqual([0, 25, 50, 74, 99]);
});

test("a table has only the rows in the shown range", () => {
  const { rows } = tableOf([line(1, [1, 2, 3])], [2, 3], { rows: 9, columns: 9 });
  expect(rows.map(({ x }) => x)).toEqual([2, 3]);
});
