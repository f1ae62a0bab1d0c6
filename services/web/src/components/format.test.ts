import { expect, test } from "vitest";
import { age, bytes, count, duration, number, percent, time } from "./format.ts";

test("numbers have six significant digits, and words for NaN and infinities", () => {
  expect([0.123456789, -1e-9, 1_234_567, 3].map(number)).toEqual([
    "0.123457",
    "-1e-9",
    "1234570",
    "3",
  ]);
  expect([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map(number)).toEqual([
    "NaN",
    "∞",
    "-∞",
  ]);
  expect(number(undefined)).toBe("");
  expect(count(100_000)).toBe("100,000");
});

test("progress is 100 % only at the end", () => {
  expect([0, 0.29, 0.999, 1].map(percent)).toEqual(["0 %", "29 %", "99 %", "100 %"]);
});

test("sizes are in the largest unit of 1024", () => {
  expect([0, 1_023, 1_536, 1_048_575, 5.5e9].map(bytes)).toEqual([
    "0 B",
    "1023 B",
    "1.5 KiB",
    "1 MiB",
    "5.1 GiB",
  ]);
});

test("durations are in their two largest units", () => {
  expect([0, 1_240, 9_999, 90_000, 5_400_000, 90_000_000].map(duration)).toEqual([
    "0s",
    "1.2s",
    "10s",
    "1m 30s",
    "1h 30m",
    "1d 1h",
  ]);
  expect(duration(3_601_000)).toBe("1h");
});

test("an age is in the largest unit, and a time in the future is shown as now", () => {
  const nowMs = 1_000_000_000;
  const ages = [-5_000, 4_000, 59_000, 61_000, 7_200_000].map((ms) => age(nowMs - ms, nowMs));
  expect(ages).toEqual(["now", "now", "59s ago", "1m ago", "2h ago"]);
});

test("a time is written from the year to the second", () => {
  expect(time(new Date(2026, 0, 2, 3, 4, 5).getTime())).toBe("2026-01-02 03:04:05");
  expect(time(undefined)).toBe("");
});
