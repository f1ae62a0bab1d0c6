import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatComparisonSource,
  parseComparisonSource,
  rangesSize,
  sourcesOfTrials,
  trialsOfRanges,
} from "./comparison-sources.ts";

const trial = fc
  .tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 40 }))
  .map(([experiment, number]) => `${experiment}.${number}`);

const trialsOf = (text: string): readonly string[] => {
  const source = parseComparisonSource(text);
  return source?.kind === "trials" ? trialsOfRanges(source.experiment, source.ranges) : [];
};

describe("the sources of a comparison", () => {
  it("name the same set of trials after they are written and read", () => {
    fc.assert(
      fc.property(fc.array(trial, { maxLength: 100 }), (trials) => {
        const texts = sourcesOfTrials(trials);
        const found = texts.flatMap(trialsOf);
        expect(found.toSorted()).toEqual([...new Set(trials)].toSorted());
        expect(new Set(texts.map((text) => text.split(".")[0])).size).toBe(texts.length);
      }),
    );
  });

  it("are read as they are written", () => {
    const numbers = fc.array(fc.integer({ min: 1, max: 999_999_999 }), { minLength: 1 });
    const text = fc.oneof(
      fc.constantFrom("12.best", "12.best5", "12.all", "9999999999999999.all"),
      numbers.map((list) => sourcesOfTrials(list.map((number) => `7.${number}`))[0] ?? ""),
    );
    fc.assert(
      fc.property(text, (given) => {
        const source = parseComparisonSource(given);
        expect(source === null ? null : formatComparisonSource(source)).toBe(given);
      }),
    );
  });

  it("are the shortest texts", () => {
    expect(sourcesOfTrials(["12.7", "13.1", "12.1", "12.3", "12.2", "12.7"])).toEqual([
      "12.1-3.7",
      "13.1",
    ]);
    const joined = parseComparisonSource("12.5-9.1-4.7");
    expect(joined).toEqual({ experiment: "12", kind: "trials", ranges: [{ first: 1, last: 9 }] });
    expect(joined?.kind === "trials" && rangesSize(joined.ranges)).toBe(9);
    expect(parseComparisonSource("12.best")).toEqual({ experiment: "12", kind: "best", count: 1 });
  });

  it("of 100 trials that lie far apart fit into a URL", () => {
    const trials = Array.from({ length: 100 }, (_, n) => `${100 + (n % 10)}.${1_000 + 2 * n}`);
    expect(sourcesOfTrials(trials).join("~").length).toBeLessThan(600);
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
