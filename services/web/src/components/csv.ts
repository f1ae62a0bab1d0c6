/**
 * Writes a cell of CSV (RFC 4180). Users choose names: a cell that a spreadsheet would run as a formula gets an
 * apostrophe before it.
 */
export function cellText(text: string): string {
  const isNumber = /^[+-]?(\d|\.\d|Infinity$)/.test(text) && !Number.isNaN(Number(text));
  const safe = /^[=+\-@\t\r]/.test(text) && !isNumber ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
