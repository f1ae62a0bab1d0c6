/** Formats numbers, times and sizes for people: short, and the same everywhere. */

/** Formats a number with six significant digits: enough to compare, short enough for a table. Empty for undefined. */
export function number(value: number | undefined): string {
  if (value === undefined) return "";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  return String(Number(value.toPrecision(6)));
}

/**
 * Formats a whole number as 12,345. Written by hand: the first call of toLocaleString costs as much as the rows of a
 * table.
 */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Formats a number of things, as "1 trial" or "1,200 trials". */
export const counted = (of: number, noun: string): string =>
  `${count(of)} ${of === 1 ? noun : `${noun}s`}`;

/** Formats a share from 0 to 1 as "37 %"; 100 % only for 1. */
export function percent(share: number): string {
  const whole = Math.floor(share * 100 + 1e-9);
  return `${Math.min(100, Math.max(0, whole))} %`;
}

const byteUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** Formats 1536 as "1.5 KiB". */
export function bytes(value: number | undefined): string {
  if (value === undefined) return "";
  let unit = 0;
  let rest = value;
  // A value of 1023.95 or more would be rounded to 1024 of the smaller unit.
  while (rest >= 1_023.95 && unit < byteUnits.length - 1) {
    rest /= 1_024;
    unit += 1;
  }
  const digits = unit === 0 || rest >= 100 ? 0 : 1;
  return `${Number(rest.toFixed(digits))} ${byteUnits[unit]}`;
}

const durationUnits = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
] as const;

/** Formats milliseconds as "1h 30m", in the two largest units; with tenths below ten seconds. */
export function duration(ms: number): string {
  if (ms < 0) return "0s";
  if (ms < 9_950) return `${Number((ms / 1_000).toFixed(1))}s`;
  const seconds = Math.round(ms / 1_000);
  const first = durationUnits.findIndex(([, size]) => seconds >= size);
  let rest = seconds;
  const parts: string[] = [];
  for (const [unit, size] of durationUnits.slice(first, first + 2)) {
    const amount = Math.floor(rest / size);
    rest -= amount * size;
    if (amount > 0) parts.push(`${amount}${unit}`);
  }
  return parts.join(" ");
}

/** Formats an age in its largest unit, as "3m ago"; "now" below five seconds. */
export function age(atMs: number, nowMs: number): string {
  const seconds = Math.floor((nowMs - atMs) / 1_000);
  if (seconds < 5) return "now";
  const [unit, size] = durationUnits.find(([, of]) => seconds >= of) ?? ["s", 1];
  return `${Math.floor(seconds / size)}${unit} ago`;
}

/** Formats a time as "2026-11-23 14:05:59" in the reader's time zone. Empty for undefined. */
export function time(ms: number | undefined): string {
  if (ms === undefined) return "";
  const at = new Date(ms);
  const date = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
  return `${date} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":")}`;
}

const two = (value: number): string => String(value).padStart(2, "0");
