import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shapeOf } from "./shape.ts";

describe("the shape of a reported value", () => {
  it("is a boolean, a text or a list of numbers", () => {
    expect(shapeOf(false)).toEqual({ kind: "boolean", value: false });
    expect(shapeOf("fine")).toEqual({ kind: "text", text: "fine" });
    expect(shapeOf([1, "NaN", "-Infinity"])).toEqual({
      kind: "list",
      values: [1, Number.NaN, Number.NEGATIVE_INFINITY],
    });
  });

  it("is a matrix: bare, or square with labels", () => {
    expect(
      shapeOf([
        [1, 2, 3],
        [4, 5, 6],
      ]),
    ).toMatchObject({ kind: "matrix", labels: [] });
    const square = {
      labels: ["cat", "dog"],
      matrix: [
        [5, 1],
        [0, 7],
      ],
    };
    expect(shapeOf(square)).toEqual({
      kind: "matrix",
      rows: [
        [5, 1],
        [0, 7],
      ],
      labels: ["cat", "dog"],
    });
    expect(
      shapeOf({
        classes: [0, 1],
        values: [
          [5, 1],
          [0, 7],
        ],
      }),
    ).toMatchObject({ labels: ["0", "1"] });
  });

  it("is not a matrix if rows differ in length, or labels do not fit", () => {
    expect(shapeOf([[1, 2], [3]])).toMatchObject({ kind: "json" });
    expect(
      shapeOf({
        labels: ["cat"],
        matrix: [
          [5, 1],
          [0, 7],
        ],
      }),
    ).toMatchObject({ kind: "json" });
  });

  it("is a histogram if it has counts and one more edge than counts, in ascending order", () => {
    expect(shapeOf({ edges: [0, 0.5, 1], counts: [3, 4] })).toEqual({
      kind: "histogram",
      counts: [3, 4],
      edges: [0, 0.5, 1],
    });
    expect(shapeOf({ hist: [3], bin_edges: [0, 1] })).toMatchObject({ kind: "histogram" });
    expect(shapeOf({ counts: [3, 4], edges: [0, 1] })).toMatchObject({ kind: "json" });
    expect(shapeOf({ counts: [3, 4], edges: [0, 2, 1] })).toMatchObject({ kind: "json" });
  });

  it("is a table for records, for columns and rows, for named records, and for names and values", () => {
    expect(
      shapeOf([
        { a: 1, b: "x" },
        { b: "y", c: true },
      ]),
    ).toEqual({
      kind: "table",
      columns: ["a", "b", "c"],
      rows: [
        ["1", "x", ""],
        ["", "y", "true"],
      ],
    });
    expect(shapeOf({ columns: ["a", "b"], data: [[1 / 3, null]] })).toEqual({
      kind: "table",
      columns: ["a", "b"],
      rows: [["0.333333", "null"]],
    });
    expect(shapeOf({ cat: { recall: 0.5 }, dog: { recall: 0.25 } })).toEqual({
      kind: "table",
      columns: ["", "recall"],
      rows: [
        ["cat", "0.5"],
        ["dog", "0.25"],
      ],
    });
    expect(shapeOf({ recall: 0.5, best: "dog" })).toEqual({
      kind: "table",
      columns: ["name", "value"],
      rows: [
        ["recall", "0.5"],
        ["best", "dog"],
      ],
    });
  });

  it("is JSON for any other value, and no value throws", () => {
    expect(shapeOf([])).toEqual({ kind: "json", text: "[]" });
    expect(shapeOf(null)).toEqual({ kind: "json", text: "null" });
    expect(shapeOf({ a: [1, { b: 2 }] })).toMatchObject({ kind: "json" });
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(shapeOf(value).kind).toBeTypeOf("string");
      }),
    );
  });
});
