import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { histogramLayout, listLayout, matrixCells } from "./layout.ts";

const size = { width: 100, height: 50 };

describe("the bars of a histogram", () => {
  it("are as wide as their bins and as high as their counts", () => {
    const shape = { kind: "histogram", counts: [1, 2], edges: [0, 25, 100] } as const;
    expect(histogramLayout(shape, size)).toEqual({
      bars: [
        { x: 0, y: 25, width: 24, height: 25, title: "0 to 25: 1" },
        { x: 25, y: 0, width: 74, height: 50, title: "25 to 100: 2" },
      ],
      baseline: 50,
      ticks: [
        { x: 0, text: "0" },
        { x: 50, text: "50" },
        { x: 100, text: "100" },
      ],
    });
  });
});

describe("the bars of a list", () => {
  it("extend downwards from zero for negative values, and are empty for values that are not finite", () => {
    const { bars, baseline } = listLayout({ kind: "list", values: [3, -2, Number.NaN] }, size);
    expect(baseline).toBe(30);
    expect(bars.map(({ y, height }) => [y, height])).toEqual([
      [0, 30],
      [30, 20],
      [30, 0],
    ]);
  });

  it("are inside the picture for any values", () => {
    fc.assert(
      fc.property(fc.array(fc.float()), (values) => {
        const { bars } = listLayout({ kind: "list", values }, size);
        const isInside = bars.every(
          ({ x, y, width, height }) =>
            x >= 0 && x + width <= 101 && y >= -0.001 && y + height <= 50.001,
        );
        expect(isInside).toBe(true);
      }),
    );
  });
});

describe("the cells of a matrix", () => {
  it("are shaded by their share of the row", () => {
    const cells = matrixCells([
      [3, 1],
      [0, 0],
    ]);
    expect(cells.map((row) => row.map(({ share }) => share))).toEqual([
      [0.75, 0.25],
      [0, 0],
    ]);
  });

  it("are shaded between minimum and maximum if a value is negative", () => {
    const cells = matrixCells([
      [-1, 1],
      [0, Number.NaN],
    ]);
    expect(cells.map((row) => row.map(({ share }) => share))).toEqual([
      [0, 1],
      [0.5, 0],
    ]);
  });

  it("are at most forty per row and per column", () => {
    const rows = Array.from({ length: 100 }, () => Array.from({ length: 60 }, () => 1));
    const cells = matrixCells(rows);
    expect([cells.length, cells[0]?.length]).toEqual([40, 40]);
  });
});
