import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exampleLine } from "./testing/example-lines.ts";
import { emptyWindow, type LogWindow, windowLimits, withNewer, withOlder } from "./window.ts";

const range = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => exampleLine(from + index));

describe("a window of a log", () => {
  it("grows at its end, and loses its first lines beyond the limit", () => {
    const full = withNewer(emptyWindow, range(1, 4_001), "4000", true);
    const next = withNewer(full, range(4_001, 4_101), "4100", true);
    expect(next.lines).toHaveLength(windowLimits.lines);
    expect([next.lines[0]?.cursor, next.older, next.newer]).toEqual(["101", "101", "4100"]);
    expect([full.older, next.atEnd]).toEqual([null, true]);
  });

  it("grows at its start, and loses its last lines: then it is not at the end", () => {
    const full = withNewer(emptyWindow, range(1_001, 5_001), "5000", true);
    const next = withOlder(full, range(501, 1_001), "501");
    expect(next.lines).toHaveLength(windowLimits.lines);
    expect([next.older, next.newer, next.atEnd]).toEqual(["501", "4500", false]);
  });

  it("continues after a read that returned no line", () => {
    const window = withNewer(emptyWindow, range(1, 3), "2", false);
    expect(withNewer(window, [], "900", true)).toMatchObject({ newer: "900", atEnd: true });
    expect(withOlder(window, [], "0")).toMatchObject({ older: "0", newer: "2" });
  });

  it("is limited in characters, and keeps at least one line", () => {
    const long = (cursor: number) => exampleLine(cursor, { text: "x".repeat(3_000_000) });
    const window = withNewer(emptyWindow, [long(1), long(2), long(3)], "3", true);
    expect(window.lines.map(({ cursor }) => cursor)).toEqual(["2", "3"]);
    const longest = exampleLine(4, { text: "x".repeat(9_000_000) });
    expect(withNewer(window, [longest], "4", true).lines).toEqual([longest]);
  });

  it("has no gap and never exceeds its limit, however it is scrolled", () => {
    const log = range(0, 30_000);
    const steps = fc.array(
      fc.record({ older: fc.boolean(), count: fc.integer({ min: 0, max: 3_000 }) }),
    );
    fc.assert(
      fc.property(steps, (moves) => {
        let window: LogWindow = { ...emptyWindow, older: "15000", newer: "14999" };
        for (const { older, count } of moves) {
          if (older) {
            const end = Number(window.older ?? 0);
            const start = Math.max(0, end - count);
            window = withOlder(window, log.slice(start, end), start === 0 ? null : String(start));
          } else {
            const read = log.slice(Number(window.newer) + 1, Number(window.newer) + 1 + count);
            window = withNewer(window, read, read.at(-1)?.cursor ?? window.newer, false);
          }
          const cursors = window.lines.map(({ cursor }) => Number(cursor));
          expect(cursors.length).toBeLessThanOrEqual(windowLimits.lines);
          const isGapless = cursors.every((cursor, index) => cursor === (cursors[0] ?? 0) + index);
          expect(isGapless).toBe(true);
        }
      }),
      { numRuns: 20 },
    );
  });
});
