import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAnsi } from "./ansi.ts";
import { markerOf, piecesOf } from "./marks.ts";

describe("the marks of a text search", () => {
  it("are the exact occurrences of the text", async () => {
    const mark = await markerOf({ q: "nan" });
    expect(mark("nan, NaN, banana, nan")).toEqual([
      [0, 3],
      [12, 15],
      [18, 21],
    ]);
    expect((await markerOf({}))("nan")).toEqual([]);
  });

  it("by words are whole words in either case", async () => {
    const mark = await markerOf({ q: "GPU lost", by: "words" });
    expect(mark("lost the gpu; gpus lost_it, Lost.")).toEqual([
      [0, 4],
      [9, 12],
      [28, 32],
    ]);
  });

  it("by a regular expression are the server's matches, in linear time", async () => {
    const mark = await markerOf({ q: "(?i)LOSS=\\d+|x*", by: "regex" });
    expect(mark("loss=12 a xx")).toEqual([
      [0, 7],
      [10, 12],
    ]);
    const slow = await markerOf({ q: "(a+)+$", by: "regex" });
    expect(slow(`${"a".repeat(3_000)}b`)).toEqual([]);
    await expect(markerOf({ q: "(", by: "regex" })).rejects.toThrow("missing closing");
  });

  it("are at most a hundred per line", async () => {
    expect((await markerOf({ q: "a" }))("a".repeat(5_000))).toHaveLength(100);
  });
});

describe("marked pieces of a line", () => {
  it("are divided where a mark or a style begins or ends", () => {
    const spans = parseAnsi("ab\u001b[1mcd\u001b[0mef");
    const pieces = piecesOf(spans, [
      [1, 3],
      [5, 6],
    ]);
    expect(pieces.map(({ text, isMarked, style }) => [text, isMarked, style.bold])).toEqual([
      ["a", false, false],
      ["b", true, false],
      ["c", true, true],
      ["d", false, true],
      ["e", false, false],
      ["f", true, false],
    ]);
  });

  it("are the whole text, whatever part is marked", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1 })),
        fc.uniqueArray(fc.nat(60)),
        (texts, cuts) => {
          const spans = parseAnsi(texts.join("\u001b[1m"));
          const ends = cuts.toSorted((a, b) => a - b);
          const ranges = ends.flatMap((end, index) =>
            index % 2 === 1 ? [[ends[index - 1] ?? 0, end] as const] : [],
          );
          const pieces = piecesOf(spans, ranges);
          const whole = spans.map(({ text }) => text).join("");
          expect(pieces.map(({ text }) => text).join("")).toBe(whole);
          expect(
            pieces
              .filter(({ isMarked }) => isMarked)
              .map(({ text }) => text)
              .join(""),
          ).toBe(ranges.map(([from, to]) => whole.slice(from, to)).join(""));
        },
      ),
    );
  });
});
