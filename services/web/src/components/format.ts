/** Numbers, times and sizes as people read them: short, and the same everywhere. */

/** Six significant digits: enough to compare, short enough for a table. Empty for nothing. */
export function number(value: number | undefined): string {
  if (value === undefined) return "";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  return String(Number(value.toPrecision(6)));
}

/** 12,345. By hand: the first number that toLocaleString writes costs as much as the rows of a table. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** 0 to 1 as "37 %"; never 100 before all is done. */
export function percent(share: number): string {
  const whole = Math.floor(share * 100 + 1e-9);
  return `${Math.min(100, Math.max(0, whole))} %`;
}

const byteUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** 1536 is "1.5 KiB". */
export function bytes(value: number | undefined): string {
  if (value === undefined) return "";
  let unit = 0;
  let rest = value;
  // 1023.95 and more would be shown as 1024 of the smaller unit.
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

/** Milliseconds as "1h 30m": the two largest units. Below ten seconds with a tenth. */
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

/** How long ago, in the largest unit: "3m ago"; "now" below five seconds. */
export function age(atMs: number, nowMs: number): string {
  const seconds = Math.floor((nowMs - atMs) / 1_000);
  if (seconds < 5) return "now";
  const [unit, size] = durationUnits.find(([, of]) => seconds >= of) ?? ["s", 1];
  return `${Math.floor(seconds / size)}${unit} ago`;
}

/** "2026-11-23 14:05:59" in the reader's time zone. Empty for nothing. */
export function time(ms: number | undefined): string {
  if (ms === undefined) return "";
  const at = new Date(ms);
  const date = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
  return `${date} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":")}`;
}

const two = (value: number): string => String(value).padStart(2, "0");
