import { describe, expect, it } from "vitest";
import { shownText, withoutOverwritten } from "./line-text.ts";
import { exampleLine } from "./example-lines.ts";

describe("the text of a line", () => {
  it("is the last state of a progress bar, with the number of redraws", () => {
    const line = exampleLine(1, { text: "\r 0%|   |\r 50%|█  |\r100%|██ |\r" });
    expect(shownText(line, false)).toEqual({ text: "100%|██ |", redraws: 2, cut: 0 });
  });

  it("lacks the launcher's prefix where the rank is known", () => {
    const text = "[rank=3] loss 0.5";
    expect(shownText(exampleLine(1, { text, rank: 3 }), false).text).toBe("loss 0.5");
    expect(shownText(exampleLine(1, { text }), false).text).toBe(text);
  });

  it("is cut beyond 4,000 characters until all of it is asked for", () => {
    const line = exampleLine(1, { text: "x".repeat(10_000) });
    expect(shownText(line, false)).toEqual({ text: "x".repeat(4_000), redraws: 0, cut: 6_000 });
    expect(shownText(line, true)).toMatchObject({ cut: 0 });
    expect(shownText(line, true).text).toHaveLength(10_000);
  });

  it("is empty for an empty line", () => {
    expect(shownText(exampleLine(1, { text: "" }), false)).toEqual({
      text: "",
      redraws: 0,
      cut: 0,
    });
  });
});

describe("parts of a progress bar", () => {
  it("are left out when a later part of the same writer writes over them", () => {
    const lines = [
      exampleLine(1, { text: "\r1%\r2%", continued: true }),
      exampleLine(2, { text: "other rank", nodeRank: 1 }),
      exampleLine(3, { text: "\r3%\r4%", continued: true }),
      exampleLine(4, { text: "\r5%" }),
    ];
    expect(withoutOverwritten(lines).map(({ cursor }) => cursor)).toEqual(["2", "4"]);
  });

  it("stay when the line only continues", () => {
    const lines = [exampleLine(1, { text: "a", continued: true }), exampleLine(2, { text: "b" })];
    expect(withoutOverwritten(lines)).toEqual(lines);
  });
});
