import type { PlacedColumn } from "../../components/table/columns.ts";

/** The shown columns of rows, as RFC 4180 has it. */
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

/** Names come from users. A cell that a spreadsheet would take for a formula begins with an apostrophe. */
function cellText(text: string): string {
  const isNumber = /^[+-]?(\d|\.\d|Infinity$)/.test(text) && !Number.isNaN(Number(text));
  const safe = /^[=+\-@\t\r]/.test(text) && !isNumber ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
