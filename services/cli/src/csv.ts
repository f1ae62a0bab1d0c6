/** One line of RFC 4180, without its end. A spreadsheet reads no cell as a formula. */
export function csvLine(cells: readonly string[]): string {
  return cells
    .map(withoutFormula)
    .map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(",");
}

/** Names and values come from training code. What a spreadsheet would take for a formula begins with an apostrophe. */
function withoutFormula(cell: string): string {
  const isNumber = /^[+-]?(\d|\.\d|Infinity$)/.test(cell) && !Number.isNaN(Number(cell));
  return /^[=+\-@\t\r]/.test(cell) && !isNumber ? `'${cell}` : cell;
}
