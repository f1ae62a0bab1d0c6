/** Times of lines, in the reader's time zone. */

const two = (value: number) => String(value).padStart(2, "0");

/** Formats a time as 14:03:09.120. */
export function clockTime(ms: number): string {
  const at = new Date(ms);
  const seconds = `${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, "0")}`;
  return `${two(at.getHours())}:${two(at.getMinutes())}:${seconds}`;
}

/** Formats a time as 2026-11-23 14:03:09.120. */
export function fullTime(ms: number): string {
  return `${day(ms)} ${clockTime(ms)}`;
}

function day(ms: number): string {
  const at = new Date(ms);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** The value of an input for a local date and time: 2026-11-23T14:03:09. */
export function inputTime(ms: number | undefined): string {
  return ms === undefined ? "" : `${day(ms)}T${clockTime(ms).slice(0, 8)}`;
}

/** Milliseconds since 1970, or undefined for an input without a complete time. */
export function timeOfInput(value: string): number | undefined {
  const ms = value === "" ? Number.NaN : new Date(value).getTime();
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
}
