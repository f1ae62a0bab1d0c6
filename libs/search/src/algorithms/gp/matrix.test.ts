import { draw } from "@trainyard/kernel";
import { describe, expect, it } from "vitest";
import {
  factorise,
  inverseColumns,
  inverseRow,
  solveLower,
  solveLowerFour,
  solveUpper,
} from "./matrix.ts";

const SIZE = 11;
/** A symmetric positive definite matrix. */
const matrix = Float64Array.from({ length: SIZE * SIZE }, (_, at) => {
  const [i, j] = [Math.floor(at / SIZE), at % SIZE];
  return i === j
    ? 4 + draw(1, "own", i)
    : draw(1, "pair", Math.max(i, j) * SIZE + Math.min(i, j)) / 4;
});
const factor = matrix.slice();
factorise(factor, SIZE, 0, SIZE, 1e-12);
const right = Float64Array.from({ length: SIZE }, (_, i) => draw(2, "right", i));

const rowTimes = (i: number, x: ArrayLike<number>): number =>
  Array.from({ length: SIZE }, (_, j) => (matrix[i * SIZE + j] ?? 0) * (x[j] ?? 0)).reduce(
    (sum, part) => sum + part,
  );

describe("a factor", () => {
  it("times its transpose equals the matrix", () => {
    const x = right.slice();
    solveLower(factor, SIZE, SIZE, x);
    solveUpper(factor, SIZE, SIZE, x);
    for (let i = 0; i < SIZE; i += 1) expect(rowTimes(i, x)).toBeCloseTo(right[i] ?? 0, 12);
  });

  it("solves four right sides at once as it solves each alone, from any first row", () => {
    for (const from of [0, 3]) {
      const four = new Float64Array(4 * SIZE);
      for (let i = from; i < SIZE; i += 1) {
        for (let c = 0; c < 4; c += 1) four[4 * i + c] = (right[i] ?? 0) + c;
      }
      solveLowerFour(factor, SIZE, from, SIZE, four);
      for (let c = 0; c < 4; c += 1) {
        const one = right.map((x, i) => (i < from ? 0 : x + c));
        solveLower(factor, SIZE, SIZE, one);
        for (let i = 0; i < SIZE; i += 1) expect(four[4 * i + c]).toBeCloseTo(one[i] ?? 0, 12);
      }
    }
  });

  it("yields the inverse, element by element", () => {
    const columns = inverseColumns(factor, SIZE, SIZE);
    const rows = Array.from({ length: SIZE }, (_, i) => {
      const row = new Float64Array(SIZE);
      inverseRow(columns, SIZE, i, row);
      return row;
    });
    for (let j = 0; j < SIZE; j += 1) {
      const column = rows.map((row, i) => (i < j ? rows[j]?.[i] : row[j]) ?? 0);
      for (let i = 0; i < SIZE; i += 1) {
        expect(rowTimes(i, column)).toBeCloseTo(i === j ? 1 : 0, 12);
      }
    }
  });

  it("is bit for bit the same when rows are appended", () => {
    const grown = matrix.slice();
    for (const to of [1, 6, SIZE])
      factorise(grown, SIZE, to === 1 ? 0 : to === 6 ? 1 : 6, to, 1e-12);
    for (let i = 0; i < SIZE; i += 1) {
      for (let j = 0; j <= i; j += 1) expect(grown[i * SIZE + j]).toBe(factor[i * SIZE + j]);
    }
  });
});
