import fc from "fast-check";
import { expect, test } from "vitest";
import { type Axis, axisOf, type Row } from "../parallel/layout.ts";
import { boxOf, cellAt, dotsOf, frameOf, heatOf, nearestDot, ticksOf } from "./layout.ts";

const frame = frameOf(480, 234);

const rowsOf = (values: readonly Row["values"][]): readonly Row[] =>
  values.map((some, index) => ({ id: String(index + 1), values: some }));

function axis(name: string, rows: readonly Row[]): Axis {
  const found = axisOf(name, rows);
  if (found === null) throw new Error(`no axis of ${name}`);
  return found;
}

const rows = rowsOf([
  { lr: 0.1, optimizer: "adam", loss: 1 },
  { lr: 0.2, optimizer: "sgd", loss: 3 },
  { lr: 0.3, optimizer: "adam", loss: 2 },
  { lr: 0.3, optimizer: "sgd", loss: Number.NaN },
  { optimizer: "adam", loss: 2 },
]);

test("a scatter plot has a dot for each trial with both values, and the best trial has the highest merit", () => {
  const dots = dotsOf(rows, axis("lr", rows), axis("loss", rows), true, frame);
  expect(dots.map(({ id, merit }) => [id, merit])).toEqual([
    ["1", 1],
    ["2", 0],
    ["3", 0.5],
  ]);
  const { left, top, width, height } = frame;
  expect(dots[0]).toMatchObject({ x: left, y: top + height });
  expect(dots[1]).toMatchObject({ x: expect.closeTo(left + width / 2), y: top });
  const larger = dotsOf(rows, axis("lr", rows), axis("loss", rows), false, frame);
  expect(larger.map(({ merit }) => merit)).toEqual([0, 1, 0.5]);
});

test("dots of one category are spread, and stay nearest to their category", () => {
  const many = rowsOf(
    Array.from({ length: 60 }, (_, n) => ({ kind: "abc"[n % 3] ?? "", loss: n })),
  );
  const dots = dotsOf(many, axis("kind", many), axis("loss", many), true, frame);
  const third = frame.width / 3;
  for (const [index, { x }] of dots.entries()) {
    const middle = frame.left + ((index % 3) + 0.5) * third;
    expect(Math.abs(x - middle)).toBeLessThanOrEqual(0.31 * third);
  }
});

test("the pointer selects the nearest dot within reach", () => {
  const dots = dotsOf(rows, axis("lr", rows), axis("loss", rows), true, frame);
  const [first] = dots;
  expect(nearestDot(dots, (first?.x ?? 0) + 3, first?.y ?? 0, 8)).toBe(first);
  expect(nearestDot(dots, (first?.x ?? 0) + 30, first?.y ?? 0, 8)).toBeNull();
  expect(nearestDot([], 0, 0, 8)).toBeNull();
});

test("a heat map shows the mean of each cell's trials, and its values", () => {
  const some = rowsOf([
    { lr: 0.1, optimizer: "adam", loss: 1 },
    { lr: 0.11, optimizer: "adam", loss: 2 },
    { lr: 0.9, optimizer: "sgd", loss: 9 },
    { lr: 0.9, loss: 9 },
  ]);
  const heat = heatOf(some, axis("lr", some), axis("optimizer", some), "loss", true);
  expect([heat.columns, heat.rows]).toEqual([8, 2]);
  expect(heat.cells).toEqual([
    { column: 0, row: 0, ids: ["1", "2"], mean: 1.5, merit: 1, across: "0.1 to 0.11", up: "adam" },
    { column: 7, row: 1, ids: ["3"], mean: 9, merit: 0, across: "0.9", up: "sgd" },
  ]);
});

test("every cell of a heat map is found at its middle, and no cell is found elsewhere", () => {
  const value = fc.oneof(fc.double({ noNaN: true }), fc.constantFrom("a", "b", "c"));
  const record = fc.record({ a: value, b: value, loss: fc.double() });
  fc.assert(
    fc.property(fc.array(record, { maxLength: 40 }), (values) => {
      const all = rowsOf(values);
      const [across, up] = [axisOf("a", all), axisOf("b", all)];
      if (across === null || up === null) return;
      const heat = heatOf(all, across, up, "loss", true);
      for (const cell of heat.cells) {
        const { left, top, width, height } = boxOf(cell, heat, frame);
        expect(cellAt(heat, frame, left + width / 2, top + height / 2)).toBe(cell);
        expect(cell.merit).toBeGreaterThanOrEqual(0);
        expect(cell.merit).toBeLessThanOrEqual(1);
        expect(cell.column).toBeLessThan(heat.columns);
        expect(cell.row).toBeLessThan(heat.rows);
      }
      const ids = heat.cells.flatMap((cell) => cell.ids);
      expect(new Set(ids).size).toBe(ids.length);
      expect(cellAt(heat, frame, frame.left - 1, frame.top + 1)).toBeNull();
    }),
    {
      examples: [
        [
          [
            { a: 0, b: 0, loss: 1.5e-323 },
            { a: -1e-323, b: "a", loss: 2e-323 },
          ],
        ],
      ],
    },
  );
});

test("a category has its tick in the middle of its part of the axis, and a number at its position", () => {
  const { left, top, width, height } = frame;
  const ticks = ticksOf(axis("optimizer", rows), axis("loss", rows), frame);
  expect(ticks.across).toEqual([
    { at: left + width / 4, text: "adam" },
    { at: left + (3 * width) / 4, text: "sgd" },
  ]);
  expect(ticks.up.at(0)).toEqual({ at: top + height, text: "1" });
  expect(ticks.up.at(-1)).toEqual({ at: top, text: "3" });
});

test("numbers that do not fit on an axis are left out, not cut", () => {
  const some = rowsOf([
    { lr: 0.000_119, loss: 1 },
    { lr: 0.0947, loss: 2 },
  ]);
  const textsAt = (width: number) =>
    ticksOf(axis("lr", some), axis("loss", some), frameOf(width, 190)).across.map(
      ({ text }) => text,
    );
  const all = ["2e-4", "5e-4", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05"];
  expect(textsAt(600)).toEqual(all);
  expect(textsAt(320)).toEqual(["2e-4", "0.001", "0.005", "0.02"]);
  expect(textsAt(200)).toEqual(["2e-4", "0.005"]);
});
