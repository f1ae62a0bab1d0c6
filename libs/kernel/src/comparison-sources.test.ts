import { describe, expect, it } from "vitest";
import { parseComparisonSource, rangesSize } from "./comparison-sources.ts";

describe("the sources of a comparison", () => {
  it("have ascending ranges that do not touch", () => {
    const joined = parseComparisonSource("12.5-9.1-4.7");
    expect(joined).toEqual({ experiment: "12", kind: "trials", ranges: [{ first: 1, last: 9 }] });
    expect(joined?.kind === "trials" && rangesSize(joined.ranges)).toBe(9);
    expect(parseComparisonSource("12.best")).toEqual({ experiment: "12", kind: "best", count: 1 });
  });

  it.each([
    "",
    "12",
    "12.",
    ".3",
    "12.0",
    "12.3.",
    "12..3",
    "12.3-",
    "12.7-3",
    "12.best0",
    "12.Best",
    "12.all.3",
    "012.3",
    "12.3#1",
    " 12.3",
    "12.1234567890",
  ])("%j is none", (text) => {
    expect(parseComparisonSource(text)).toBeNull();
  });
});
