import { cellText } from "../../components/csv.ts";
import type { PlacedColumn } from "../../components/table/columns.ts";

/** Writes the shown columns of rows as CSV (RFC 4180). */
export function csvText<Row>(
  placed: readonly Pick<PlacedColumn<Row>, "column">[],
  rows: readonly Row[],
): string {
  const lines = [
    placed.map(({ column }) => column.title),
    ...rows.map((row) => placed.map(({ column }) => column.text(row))),
  ];
  return lines.map((cells) => `${cells.map(cellText).join(",")}\r\n`).join("");
}
