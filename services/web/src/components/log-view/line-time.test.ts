import { describe, expect, it } from "vitest";
import { clockTime, fullTime, inputTime, timeOfInput } from "./line-time.ts";

describe("the time of a line", () => {
  it("is in the reader's time zone, with milliseconds", () => {
    const ms = new Date(2026, 10, 3, 4, 5, 6, 70).getTime();
    expect([clockTime(ms), fullTime(ms)]).toEqual(["04:05:06.070", "2026-11-03 04:05:06.070"]);
  });

  it("is read back from its input", () => {
    const ms = new Date(2026, 10, 3, 4, 5, 6).getTime();
    expect(inputTime(ms)).toBe("2026-11-03T04:05:06");
    expect(timeOfInput(inputTime(ms))).toBe(ms);
    expect([inputTime(undefined), timeOfInput(""), timeOfInput("x")]).toEqual([
      "",
      undefined,
      undefined,
    ]);
  });
});
