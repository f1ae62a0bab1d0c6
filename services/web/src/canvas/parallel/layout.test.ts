import fc from "fast-check";
import { expect, test } from "vitest";
import { axisAt, axisOf, brushed, moved, placed, type Row, xOfAxis } from "./layout.ts";

const rowsOf = (name: string, values: readonly Row["values"][string][]): readonly Row[] =>
  values.map((value, index) => ({ id: String(index + 1), values: { [name]: value } }));

test("numbers have a linear axis, and numbers over two decades a logarithmic one", () => {
  expect(axisOf("n", rowsOf("n", [1, 5, 9]))?.kind).toBe("linear");
  const log = axisOf("n", rowsOf("n", [1e-4, 1e-2]));
  expect(log?.kind).toBe("log");
  expect(log?.shareOf(1e-3)).toBeCloseTo(0.5);
});

const texts = (values: readonly number[]) =>
  axisOf("n", rowsOf("n", values))?.ticks.map(({ text }) => text);

test("a logarithmic axis has ticks at 1, 2 and 5 times powers of ten, or at powers of ten alone", () => {
  expect(texts([0.0075, 0.827])).toEqual(["0.01", "0.02", "0.05", "0.1", "0.2", "0.5"]);
  expect(texts([1e-5, 0.08])).toEqual(["1e-5", "1e-4", "0.001", "0.01"]);
});

test("a linear axis has ticks at round numbers, and whole numbers at whole ones", () => {
  expect(texts([1, 3, 8])).toEqual(["2", "4", "6", "8"]);
  expect(texts([1, 2])).toEqual(["1", "2"]);
  expect(texts([1, 2.5])).toEqual(["1", "1.5", "2", "2.5"]);
});

test("the numbers of a categorical hyperparameter are the only values of its axis", () => {
  const rows = rowsOf("width", [16, 4, 8, 4]);
  const axis = axisOf("width", rows, true);
  expect(axis?.kind).toBe("category");
  expect(axis?.ticks.map(({ text }) => text)).toEqual(["4", "8", "16"]);
  expect([4, 8, 16].map((value) => axis?.shareOf(value))).toEqual([0, 0.5, 1]);
  expect(axisOf("width", rows)?.kind).toBe("linear");
});

test("words, and mixtures with numbers, have an axis of sorted categories", () => {
  const axis = axisOf("c", rowsOf("c", ["b", "a", "c", "a"]));
  expect(axis?.ticks).toEqual([
    { share: 0, text: "a" },
    { share: 0.5, text: "b" },
    { share: 1, text: "c" },
  ]);
  expect(axisOf("c", rowsOf("c", [true, "a"]))?.kind).toBe("category");
});

test("a hyperparameter with one value, or with too many words, has no axis", () => {
  expect(axisOf("n", rowsOf("n", [3, 3]))).toBeNull();
  expect(axisOf("n", rowsOf("n", []))).toBeNull();
  const words = Array.from({ length: 25 }, (_, index) => `word ${index}`);
  expect(axisOf("n", rowsOf("n", words))).toBeNull();
});

test("a row without a value has no position on the axis and is in no brush of the axis", () => {
  const rows = rowsOf("n", [1, undefined, Number.NaN, 3]);
  const axes = [axisOf("n", rows)].filter((axis) => axis !== null);
  const all = placed(rows, axes);
  expect(all[1]?.shares[0]).toBeNaN();
  expect(brushed(all, axes, new Map()).length).toBe(4);
  expect(brushed(all, axes, new Map([["n", [0, 1]]])).map(({ id }) => id)).toEqual(["1", "4"]);
});

test("a row must be within the brushes of all axes, and brushes of removed axes do not count", () => {
  const rows = [1, 2, 3, 4].map((a) => ({ id: String(a), values: { a, b: -a } }));
  const axes = ["a", "b"].flatMap((name) => axisOf(name, rows) ?? []);
  const brushes = new Map<string, readonly [number, number]>([
    ["a", [0.3, 1]],
    ["b", [0.3, 1]],
    ["gone", [0, 0]],
  ]);
  expect(brushed(placed(rows, axes), axes, brushes).map(({ id }) => id)).toEqual(["2", "3"]);
});

test("any finite numbers are on the axis, in order", () => {
  const value = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(fc.array(value, { minLength: 2 }), (values) => {
      const axis = axisOf("n", rowsOf("n", values));
      if (axis?.kind === undefined || axis.kind === "category") return;
      let last = -1e-9;
      for (const share of values.toSorted((a, b) => a - b).map(axis.shareOf)) {
        expect(share).toBeGreaterThanOrEqual(last - 1e-9);
        expect(share).toBeLessThanOrEqual(1 + 1e-9);
        last = share;
      }
    }),
  );
});

test("an axis is found at its position, and moves by one place", () => {
  for (const index of [0, 1, 2, 3]) {
    expect(axisAt(xOfAxis(index, 4, 800, 60), 4, 800, 60)).toBe(index);
  }
  expect(moved(["a", "b", "c"], "b", -1)).toEqual(["b", "a", "c"]);
  expect(moved(["a", "b"], "a", -1)).toEqual(["a", "b"]);
});
