import { expect, test } from "vitest";
import { lineFor } from "./example-lines.ts";
import type { Line } from "./line.ts";
import { lineStylesOf } from "./line-style.ts";
import { pointedOf, type TooltipOptions } from "./pointed.ts";
import { pointsAt } from "./points-at.ts";

const axes = { x: [0, 100], y: [0, 1], log: false } as const;
const window = { width: 1_000, height: 600 };
const area = { left: 60, top: 10, width: 200, height: 100 };
const colours = { hues: ["h1", "h2"], grey: "grey" } as unknown as TooltipOptions["colours"];

function at(lines: readonly Line[], xShare: number, yShare = 0.5) {
  const drawn = lines.map((line) => ({ line, y: line.y }));
  const found = pointsAt(drawn, { xShare, yShare }, axes, 0.1);
  if (found === null) throw new Error("there is no point");
  const looks = lineStylesOf(lines, new Set());
  const pointer = { xShare, yShare, area, corner: { x: 500, y: 300 }, window };
  const look = { xTitle: "step", time: false, highlighted: "12.1", looks, colours };
  return pointedOf(found, pointer, look);
}

test("a bucket of several points has its first and last step, its mean, minimum and maximum", () => {
  const bucket = { ...lineFor(1, [20], [0.5]), from: [15], to: [25], low: [0.25], high: [0.75] };
  const { tooltip, hair } = at([bucket, lineFor(2, [22], [0.25])], 0.2);
  expect(tooltip?.head).toBe("step 15 … 25");
  expect(tooltip?.rows).toMatchObject([
    { label: "trial 1", value: "0.5", note: "0.25 … 0.75", colour: "h1", isHighlighted: true },
  ]);
  expect(hair).toEqual({ left: 100, top: 10, height: 100 });
});

test("a line whose bucket is another one says which", () => {
  const bucket = { ...lineFor(2, [20], [0.1]), from: [10], to: [30] };
  const { tooltip } = at([lineFor(1, [22], [0.5]), bucket], 0.22);
  expect(tooltip?.head).toBe("step 22");
  expect(tooltip?.rows.map(({ note }) => note)).toEqual(["", "at 10 … 30"]);
});

test("twelve of a hundred lines are listed, and the others counted", () => {
  const lines = Array.from({ length: 100 }, (_, index) => lineFor(index + 1, [50], [index / 100]));
  const { tooltip, dots } = at(lines, 0.5);
  expect(tooltip?.rows).toHaveLength(12);
  expect(tooltip?.more).toBe("and 88 more");
  expect(dots).toHaveLength(16);
});

test("NaN and infinities are named, and have no dot", () => {
  const marks = [{ x: 50, kind: "-inf", count: 1 } as const];
  const lines = [{ ...lineFor(1, [50], [Number.NaN]), marks }, lineFor(2, [50], [Number.NaN])];
  const { tooltip, dots } = at(lines, 0.5);
  expect(tooltip?.rows.map(({ value }) => value)).toEqual(["-∞", "NaN"]);
  expect(dots).toEqual([]);
});

test("a chart without the pointer has the crosshair, and no tooltip", () => {
  const { tooltip, dots } = at([lineFor(1, [50], [0.25])], 0.5, Number.NaN);
  expect(tooltip).toBeNull();
  expect(dots).toEqual([{ left: 160, top: 85, colour: "h1" }]);
});
