/** Formats one line of CSV (RFC 4180), without the line end. No cell can be read as a formula by a spreadsheet. */
export function csvLine(cells: readonly string[]): string {
  return cells
    .map(withoutFormula)
    .map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(",");
}

/** Puts an apostrophe before a cell that a spreadsheet would read as a formula: training code chooses its text. */
function withoutFormula(cell: string): string {
  const isNumber = /^[+-]?(\d|\.\d|Infinity$)/.test(cell) && !Number.isNaN(Number(cell));
  return /^[=+\-@\t\r]/.test(cell) && !isNumber ? `'${cell}` : cell;
}
