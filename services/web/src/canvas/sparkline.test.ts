import { describe, expect, it } from "vitest";
import { sparkLayout } from "./sparkline.ts";

const size = { width: 100, height: 20 };
const point = (x: number, value: number) => ({ x, min: value, mean: value, max: value });

describe("a sparkline", () => {
  it("fills its area from the first to the last time and from the minimum to the maximum", () => {
    const points = [
      { x: 10, min: 0, mean: 1, max: 2 },
      { x: 20, min: 2, mean: 3, max: 4 },
    ];
    expect(sparkLayout(points, size)).toEqual({
      line: "0,15 100,5",
      band: "M0,10L100,0L100,10L0,20Z",
    });
  });

  it("is a line in the middle if the value is constant, and empty without points", () => {
    expect(sparkLayout([point(1, 5), point(2, 5)], size).line).toBe("0,10 100,10");
    expect(sparkLayout([point(1, 5)], size).line).toBe("0,10 100,10");
    expect(sparkLayout([], size)).toEqual({ line: "", band: "" });
  });

  it("has at most one column per pixel and keeps each peak", () => {
    const points = Array.from({ length: 10_000 }, (_, x) => point(x, x === 7_777 ? 100 : 0));
    const { line, band } = sparkLayout(points, size);
    expect(line.split(" ").length).toBeLessThanOrEqual(100);
    expect(band).toContain(",0L");
  });
});
