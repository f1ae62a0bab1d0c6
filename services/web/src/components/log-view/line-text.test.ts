import { describe, expect, it } from "vitest";
import { exampleLine } from "./testing/example-lines.ts";
import { shownText } from "./line-text.ts";

describe("the text of a line", () => {
  it("lacks the launcher's prefix if the rank is known", () => {
    const text = "[rank=3] loss 0.5";
    expect(shownText(exampleLine(1, { text, rank: 3 }), false).text).toBe("loss 0.5");
    expect(shownText(exampleLine(1, { text }), false).text).toBe(text);
  });

  it("is cut after 4,000 characters unless the whole line is requested", () => {
    const line = exampleLine(1, { text: "x".repeat(10_000) });
    expect(shownText(line, false)).toEqual({ text: "x".repeat(4_000), cut: 6_000 });
    expect(shownText(line, true)).toEqual({ text: "x".repeat(10_000), cut: 0 });
  });
});
