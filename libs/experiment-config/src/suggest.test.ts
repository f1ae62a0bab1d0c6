import { describe, expect, it } from "vitest";
import { closest, editDistance } from "./suggest.ts";

describe("editDistance", () => {
  it.each([
    ["", "", 0],
    ["abc", "", 3],
    ["name", "nmae", 1],
    ["kitten", "sitting", 3],
    ["slots_per_trail", "slots_per_trial", 1],
  ])("of %j and %j is %i", (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
    expect(editDistance(b, a)).toBe(distance);
  });
});

describe("closest", () => {
  it("returns the most similar known word, ignoring case", () => {
    expect(closest("Max_Trails", ["max_rungs", "max_trials"])).toBe("max_trials");
  });

  it("returns null if no word is similar", () => {
    expect(closest("foo", ["name", "labels"])).toBe(null);
    expect(closest("x".repeat(10_000), ["x".repeat(9_999)])).toBe(null);
  });
});
