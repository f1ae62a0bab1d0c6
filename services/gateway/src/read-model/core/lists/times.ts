const unitsMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};
const datePattern = /^\d{4}-\d{2}-\d{2}$/;
const timePattern =
  /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?([Zz]|[+-]\d{2}:\d{2})?$/;

/**
 * Parses a time to milliseconds since 1970: an ISO date or time, in UTC unless it has a zone, or a time relative to
 * now, such as `-7d`. Null for another text.
 */
export function readTime(text: string, nowMs: number): number | null {
  const relative = /^([+-])(\d{1,6})([smhdw])$/.exec(text);
  if (relative !== null) {
    const [, sign, count, unit = ""] = relative;
    const distance = Number(count) * (unitsMs[unit] ?? 0);
    return sign === "-" ? nowMs - distance : nowMs + distance;
  }
  const zoned = timePattern.exec(text);
  if (zoned === null && !datePattern.test(text)) return null;
  const spelled = text.replace(" ", "T");
  const ms = Date.parse(zoned !== null && zoned[1] === undefined ? `${spelled}Z` : spelled);
  return Number.isNaN(ms) ? null : ms;
}
