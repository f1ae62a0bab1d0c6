/** A duration: a number of seconds, or text such as "90s", "30m", "2h", "1.5d". */
import type { Json } from "./json.ts";

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
export const durationPattern = /^(\d+(?:\.\d+)?)\s*([smhd])$/;
export const durationShape =
  'a time: a number of seconds, or text such as "90s", "30m", "2h", "1d"';

/** Null for a value that is no duration, including negative numbers. */
export function durationSeconds(value: Json | undefined): number | null {
  if (typeof value === "number") return value >= 0 ? value : null;
  const [, number = "", unit = ""] =
    typeof value === "string" ? (durationPattern.exec(value) ?? []) : [];
  const factor = secondsOf[unit];
  return factor === undefined ? null : Number(number) * factor;
}
