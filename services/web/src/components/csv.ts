/** Writes lines of cells as CSV (RFC 4180). */
export function csvOf(lines: readonly (readonly string[])[]): string {
  return lines.map((cells) => `${cells.map(cellText).join(",")}\r\n`).join("");
}

/** Users choose names: a cell that a spreadsheet would run as a formula gets an apostrophe before it. */
function cellText(text: string): string {
  const isNumber = /^[+-]?(\d|\.\d|Infinity$)/.test(text) && !Number.isNaN(Number(text));
  const safe = /^[=+\-@\t\r]/.test(text) && !isNumber ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
