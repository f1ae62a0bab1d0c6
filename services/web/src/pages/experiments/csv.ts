import { csvOf } from "../../components/csv.ts";
import type { PlacedColumn } from "../../components/table/columns.ts";

/** Writes the shown columns of rows as CSV. */
export function csvText<Row>(
  placed: readonly Pick<PlacedColumn<Row>, "column">[],
  rows: readonly Row[],
): string {
  return csvOf([
    placed.map(({ column }) => column.title),
    ...rows.map((row) => placed.map(({ column }) => column.text(row))),
  ]);
}
