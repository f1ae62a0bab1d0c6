import { isRejection } from "@trainyard/kernel";
import { describe, expect, it } from "vitest";
import { configOf, randomOf, sobolOf } from "../testing/searches.ts";
import { curveTable, gridTable } from "./table-files.ts";
import { lengthened, runOnTable, summaryOf } from "./table-runs.ts";
import { RowsLeft, type Table } from "./table.ts";

const file = {
  hp_names: ["lr", "units"],
  hp: [
    [0.0001, 1],
    [0.001, 2],
    [0.01, 3],
    [0.1, 4],
  ],
  valid: [
    [4, 3, 2],
    [3, null, 1],
    [2, 2, 3],
    [9, 8, 7],
  ],
};

function right(read: ReturnType<typeof curveTable>): Table {
  if (isRejection(read)) throw new Error(read.detail);
  return read;
}

const table = right(curveTable("small", file));
const spec = {
  params: [
    { name: "op", choices: ["a", "b"] },
    { name: "lr", choices: [0.1, 0.2, 0.3] },
  ],
  replicates: 2,
  direction: "maximize",
};
const bytesOf = (values: readonly number[]) => new Uint8Array(new Float32Array(values).buffer);
const twelve = bytesOf([1, 3, 2, 2, 5, 7, 0, 0, 8, 8, 9, 11]);

describe("a table of learning curves", () => {
  it("has a logarithmic axis for positive values that span a factor over a hundred", () => {
    expect(table.space["lr"]).toMatchObject({ type: "log", base: 10 });
    expect(table.space["units"]).toMatchObject({ type: "double", minval: 1, maxval: 4 });
    expect(table.steps).toBe(3);
    expect([table.valueAt(0, 1), table.valueAt(1, 2), table.valueAt(3, 3)]).toEqual([
      4,
      Number.NaN,
      7,
    ]);
  });

  it.each([
    [[], "no JSON object"],
    [{ ...file, hp_names: "lr" }, "no hp_names"],
    [{ ...file, hp: [] }, "no hp"],
    [{ ...file, valid: 1 }, "no valid"],
    [{ ...file, valid: [[1]] }, "4 configurations in hp and 1 curves"],
    [{ ...file, hp: [[1], [1, 2], [1, 2], [1, 2]] }, "in configuration 0"],
    [{ ...file, valid: [[], [], [], []] }, "in configuration 0"],
  ])("is refused, and the reason names the error, for %j", (wrong, why) => {
    expect(curveTable("small", wrong)).toMatchObject({ detail: expect.stringContaining(why) });
  });
});

describe("a table of a grid", () => {
  it("has rows in which the last parameter varies fastest, and means of the replicates", () => {
    const grid = right(gridTable("grid", { grid: spec }, twelve));
    expect(grid.rows[4]).toEqual({ op: "b", lr: 0.2 });
    expect(grid.rows.map((_, row) => grid.valueAt(row, 1))).toEqual([2, 2, 6, 0, 8, 10]);
    expect(grid).toMatchObject({ steps: 1, smallerIsBetter: false });
  });

  it("leaves missing replicates out of the mean", () => {
    const partly = bytesOf([1, Number.NaN, 2, 2, 5, 7, 0, 0, Number.NaN, Number.NaN, 9, 11]);
    const grid = right(gridTable("grid", { grid: spec }, partly));
    expect(grid.rows.map((_, row) => grid.valueAt(row, 1))).toEqual([1, 2, 6, 0, Number.NaN, 10]);
  });

  it.each([
    [{}, twelve, "not described"],
    [{ grid: { ...spec, params: [{ name: "op" }] } }, twelve, "no params"],
    [{ grid: { ...spec, direction: "up" } }, twelve, "no direction"],
    [{ grid: { ...spec, replicates: 0 } }, twelve, "replicates"],
    [{ grid: spec }, twelve.subarray(4), "is 44 bytes long, where its spec.json makes 48"],
  ])("is refused, and the reason names the error, for %j", (specs, bytes, why) => {
    expect(gridTable("grid", specs, bytes)).toMatchObject({
      detail: expect.stringContaining(why),
    });
  });
});

describe("the rows of a table", () => {
  it("are used once each, the nearest by scaled distance first", () => {
    const left = new RowsLeft(table, 1);
    expect(left.nearest({ lr: 0.003, units: 2.6 }, 1)).toBe(2);
    expect(left.nearest({ lr: 0.003, units: 2.6 }, 2)).toBe(1);
    expect([left.drawn(), left.drawn()].sort()).toEqual([0, 3]);
    expect(() => left.drawn()).toThrow("row left");
  });

  it("have distance 1 between different choices", () => {
    const grid = right(gridTable("grid", { grid: spec }, twelve));
    const left = new RowsLeft(grid, 1);
    expect(grid.rows[left.nearest({ op: "b", lr: 0.1 }, 1)]).toEqual({ op: "b", lr: 0.1 });
    expect(grid.rows[left.nearest({ op: "b", lr: 0.1 }, 2)]).toEqual({ op: "b", lr: 0.2 });
  });

  it("are drawn in another order for another seed", () => {
    const orders = [1, 2, 3, 4, 5, 6].map((seed) => {
      const left = new RowsLeft(table, seed);
      return [left.drawn(), left.drawn(), left.drawn(), left.drawn()].join();
    });
    expect(new Set(orders).size).toBeGreaterThan(2);
  });
});

describe("a search against a table", () => {
  const searcher = { ...randomOf(4, 0), metric: "valid" };

  it("uses every row, and lists the best value per full training's worth of steps", () => {
    const run = runOnTable({ config: configOf(searcher, table.space), table, seed: 1, workers: 1 });
    expect(run).toMatchObject({ trials: 4, stopped: 0 });
    expect(run.incumbents.at(-1)).toBe(1);
    expect(run.incumbents).toHaveLength(4);
  });

  it("ends when its budget is spent, and trials that still train do not count as stopped", () => {
    const settings = { config: configOf(searcher, table.space), table, seed: 1, workers: 2 };
    const run = runOnTable({ ...settings, budget: 1 });
    expect(run.incumbents).toHaveLength(1);
    expect(run).toMatchObject({ trials: 2, stopped: 0 });
  });

  it("finds the best row also by quasi-random proposals", () => {
    const config = configOf({ ...sobolOf(4, 0), metric: "valid" }, table.space);
    expect(runOnTable({ config, table, seed: 1, workers: 2 }).incumbents.at(-1)).toBe(1);
  });
});

describe("a summary", () => {
  const runOf = (...incumbents: (number | null)[]) => ({
    seed: 1,
    incumbents,
    trials: 1,
    stopped: 0,
  });

  it("has quartiles at each budget, and ranks runs without a value last", () => {
    const runs = lengthened([runOf(null, 1), runOf(4), runOf(2, 2), runOf(3, 0)], 1);
    expect(runs.map(({ incumbents }) => incumbents[1])).toEqual([1, 4, 2, 0]);
    expect(summaryOf(runs, true)).toEqual([
      { budget: 1, q25: 2.75, median: 3.5, q75: null },
      { budget: 2, q25: 0.75, median: 1.5, q75: 2.5 },
    ]);
    expect(summaryOf([runOf(null), runOf(1)], false)).toEqual([
      { budget: 1, q25: null, median: null, q75: null },
    ]);
  });
});
