import { describe, expect, it } from "vitest";
import { textOfLog } from "./download.ts";
import { exampleLine } from "./testing/example-lines.ts";
import type { LogRange, LogSource } from "./source.ts";

describe("a downloaded log", () => {
  it("is the unchanged text of all pages, including pages after one without a line", async () => {
    const pages = new Map([
      ["", { lines: [exampleLine(1, { text: "\u001b[1mone" })], next: "1" }],
      ["1", { lines: [], next: "7" }],
      ["7", { lines: [exampleLine(8, { text: "two" })], next: null }],
    ]);
    const source = {
      read: async (range: LogRange) => {
        const page = pages.get("after" in range ? range.after : "before");
        if (page === undefined) throw new Error("read at a place that no page named");
        return { ...page, removed: undefined };
      },
    } as unknown as LogSource;
    const progress: number[] = [];
    const never = new AbortController().signal;
    const blob = await textOfLog(source, (lines) => progress.push(lines), never);
    expect([await blob.text(), progress]).toEqual(["\u001b[1mone\ntwo\n", [1, 1, 2]]);
  });
});
