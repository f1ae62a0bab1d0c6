/**
 * A memory size: a number of bytes, or text such as "80GB". `G` and `GB` are 10^9 bytes, the vendors' unit for device
 * memory, so that a GPU sold with 80 GB has "80GB"; `GiB` is 2^30.
 */
import type { Json } from "./json.ts";

export const memoryPattern = /^(\d*\.)?\d+ ?([kmgtp](i?b)?|b)?$/i;
export const memoryShape = 'a memory size: a number of bytes, or text such as "4G" or "1.5 gb"';

const prefixes = "kmgtp";

/** Null for a value that is no size. */
export function memoryBytes(value: Json | undefined): number | null {
  if (typeof value === "number") return value >= 0 ? value : null;
  if (typeof value !== "string" || !memoryPattern.test(value)) return null;
  const [, number = "", unit = ""] = /^([\d.]+) ?([a-z]*)$/.exec(value.toLowerCase()) ?? [];
  const power = unit === "" || unit === "b" ? 0 : prefixes.indexOf(unit[0] ?? "") + 1;
  return Math.round(Number(number) * (unit.endsWith("ib") ? 1_024 : 1_000) ** power);
}
