/** Parses the values of options. Each parser throws a UsageError that names the option and the expected form. */
import { systemClock } from "@trainyard/kernel/system-clock";
import { UsageError } from "./usage-error.ts";

const unitSeconds: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3_600, d: 86_400 };

/** Reads a duration as "90", "90s", "15m", "12h" or "7d"; it is more than 0. */
export function secondsOf(option: string, text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text) ?? [];
  if (amount === undefined || unit === undefined || Number(amount) === 0) {
    throw new UsageError(`${option} takes seconds or 30m, 12h, 7d, not ${JSON.stringify(text)}.`);
  }
  return Number(amount) * (unitSeconds[unit] ?? 1);
}

export function millisecondsOf(option: string, text: string): number {
  return Math.round(secondsOf(option, text) * 1_000);
}

/** Parses a time to milliseconds since 1970: a date and time, or the length of a period that ends at present. */
export function timeOf(option: string, text: string): number {
  if (/^\d+(\.\d+)?[smhd]$/.test(text)) return systemClock.nowMs() - millisecondsOf(option, text);
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) {
    const form = "10m, 2h, 7d (ago), or a date and time as 2026-11-22T10:00:00Z";
    throw new UsageError(`${option} takes ${form}, not ${JSON.stringify(text)}.`);
  }
  return time;
}

export function wholeNumberOf(option: string, text: string, least = 0): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least)) {
    const form = `a whole number, at least ${least}`;
    throw new UsageError(`${option} takes ${form}, not ${JSON.stringify(text)}.`);
  }
  return value;
}

export function positiveNumberOf(option: string, text: string): number {
  const value = /^(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (!(value > 0)) {
    throw new UsageError(`${option} takes a number above 0, not ${JSON.stringify(text)}.`);
  }
  return value;
}

/** Collects the values of an option that may be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
