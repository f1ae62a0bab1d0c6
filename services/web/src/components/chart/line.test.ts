import { expect, test } from "vitest";
import { captionOf, chartTrialOf, lineOf, type Series } from "./line.ts";

function series(values: readonly number[], of: Partial<Series> = {}): Series {
  const finite = values.map((value) => (Number.isFinite(value) ? value : Number.NaN));
  return {
    trial: "12.3",
    group: "validation",
    name: "loss",
    xMin: values.map((_, index) => index + 1),
    xMax: values.map((_, index) => index + 1),
    count: values.map(() => 1),
    min: finite,
    max: finite,
    mean: finite,
    deviation: values.map(() => 0),
    first: values,
    last: values,
    nans: values.map((value) => (Number.isNaN(value) ? 1 : 0)),
    infinities: values.map((value) => (Math.abs(value) === Number.POSITIVE_INFINITY ? 1 : 0)),
    ...of,
  };
}

const trial = chartTrialOf("12.3");

test("a line is named after its trial, and a bucket is in the middle of its points", () => {
  const line = lineOf(series([2], { xMin: [10], xMax: [20], count: [11] }), trial);
  expect(line).toMatchObject({
    of: "12.3",
    label: "trial 3",
    look: 3,
    x: [15],
    y: [2],
    points: 11,
  });
  expect(line).toMatchObject({ from: [10], to: [20], count: [11] });
});

test("trials of the same number in two experiments have two lines", () => {
  const one = lineOf(series([2]), trial);
  const other = lineOf(series([2]), { id: "13.3", label: "13.3", look: 2 });
  expect(one.id).not.toBe(other.id);
  expect(one.of).not.toBe(other.of);
});

test("NaN and both infinities are marked at their x and have no y", () => {
  const values = [1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 5];
  const line = lineOf(series(values), trial);
  expect(line.y).toEqual([1, Number.NaN, Number.NaN, Number.NaN, 5]);
  expect(line.marks).toEqual([
    { x: 2, kind: "nan", count: 1 },
    { x: 3, kind: "inf", count: 1 },
    { x: 4, kind: "-inf", count: 1 },
  ]);
});

test("infinities of unknown sign inside a bucket are marked as either", () => {
  const inside = series([1], { count: [9], infinities: [2], first: [1], last: [1] });
  expect(lineOf(inside, trial).marks).toEqual([{ x: 1, kind: "±inf", count: 2 }]);
  const ends = { first: [Number.POSITIVE_INFINITY], last: [Number.NEGATIVE_INFINITY] };
  const both = series([1], { count: [9], infinities: [2], ...ends });
  expect(lineOf(both, trial).marks[0]?.kind).toBe("±inf");
});

test("a mean that overflowed is drawn between the bounds of its bucket", () => {
  const huge = series([1], { min: [1], max: [1e308], mean: [Number.POSITIVE_INFINITY] });
  expect(lineOf(huge, trial).y).toEqual([0.5 + 5e307]);
});

test("the caption counts points and says whether all are shown", () => {
  const all = lineOf(series([1, 2]), trial);
  const many = lineOf(series([1, 2, 3], { count: [1_000, 50_000, 49_000] }), trial);
  expect(captionOf([all])).toBe("showing all 2 points");
  expect(captionOf([many])).toBe("showing 3 of 100,000 points; minima and maxima kept");
});
