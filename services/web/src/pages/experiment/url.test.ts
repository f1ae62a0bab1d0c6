import fc from "fast-check";
import { expect, test } from "vitest";
import { readSearch, readTrials, readZoom, trialsText, zoomText } from "./url.ts";

test("the URL's search is read without its invalid values", () => {
  expect(readSearch({ tab: "search", version: "12", trial: 3, trials: 7 })).toEqual({
    tab: "search",
    version: 12,
    trial: 3,
    trials: "7",
  });
  const heat = { plot: "heat", across: "lr", up: "layers" };
  expect(readSearch(heat)).toEqual(heat);
  expect(readSearch({ tab: { a: 1 }, version: -4, trial: "1e9", unknown: "x" })).toEqual({});
});

test("a zoom is read as it was written", () => {
  expect(readZoom(zoomText([10, 250.5]))).toEqual([10, 250.5]);
  expect(readZoom("5..5")).toBeNull();
  expect(readZoom("a..b")).toBeNull();
  expect(readZoom(undefined)).toBeNull();
  expect(zoomText(null)).toBeUndefined();
  expect(zoomText([1795442938853.25, 1795442998853.75])).toBe("1795442938853..1795442998854");
});

test("a written zoom is within a thousandth of its width", () => {
  const ends = fc.double({ min: -1e9, max: 1e9, noNaN: true });
  fc.assert(
    fc.property(ends, fc.double({ min: 1e-3, max: 1e9, noNaN: true }), (from, width) => {
      const [start, end] = readZoom(zoomText([from, from + width])) ?? [0, 0];
      expect(Math.abs(start - from)).toBeLessThan(width / 1_000);
      expect(Math.abs(end - from - width)).toBeLessThan(width / 1_000);
    }),
  );
});

test("selected trials are sorted numbers", () => {
  expect(trialsText(new Set([7, 3]))).toBe("3,7");
  expect(trialsText(new Set())).toBeUndefined();
  expect(readTrials("3,7,x,-1,1.5,")).toEqual(new Set([3, 7]));
});
