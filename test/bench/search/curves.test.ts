import { parseForRecorded } from "@trainyard/experiment-config";
import { isRejection } from "@trainyard/kernel";
import { runOnTable, type Table } from "@trainyard/search";
import { expect, test } from "vitest";
import { families, generatedTable } from "./curve-families.ts";
import { curveFiles, defaults, recordedOf, WORKERS } from "./curves.ts";
import { curvesFolder } from "./tables.ts";

const tablesOf = (name: string, seed: number): Table => {
  const family = families.find((one) => one.name === name);
  if (family === undefined) throw new Error(`${name} is a family`);
  return generatedTable({ ...family, rows: 300 }, seed);
};

/** The share of configuration pairs whose order at a step is their final order. */
function agreement(table: Table, step: number): number {
  const ends = table.rows.map((_, row) => [
    table.valueAt(row, step),
    table.valueAt(row, table.steps),
  ]);
  const told = ends.filter((pair) => pair.every(Number.isFinite)) as [number, number][];
  let same = 0;
  let pairs = 0;
  for (const [i, [early, late]] of told.entries()) {
    for (const [otherEarly, otherLate] of told.slice(i + 1)) {
      pairs += 1;
      if (early < otherEarly === late < otherLate) same += 1;
    }
  }
  return same / pairs;
}

test("generated curves show their final order early, late or reversed, as their family is defined", () => {
  expect(agreement(tablesOf("plain", 1), 2)).toBeGreaterThan(0.55);
  expect(agreement(tablesOf("plain", 1), 17)).toBeGreaterThan(0.7);
  expect(agreement(tablesOf("misleading", 1), 1)).toBeLessThan(0.4);
  expect(agreement(tablesOf("misleading", 1), 5)).toBeGreaterThan(0.75);
  expect(agreement(tablesOf("crossing", 1), 1)).toBeLessThan(0.5);
  const last = (table: Table) =>
    table.rows.filter((_, row) => Number.isNaN(table.valueAt(row, 51)));
  expect(last(tablesOf("diverging", 1)).length).toBeGreaterThan(60);
});

test("a family and a seed always generate the same curves", () => {
  const values = (table: Table) => table.rows.map((_, row) => table.valueAt(row, 9));
  expect(values(tablesOf("late", 3))).toEqual(values(tablesOf("late", 3)));
  expect(values(tablesOf("late", 4))).not.toEqual(values(tablesOf("late", 3)));
});

/** Returns the real curves; if their folder is missing, prints that and returns none. */
function realCurves(): readonly (readonly [name: string, table: Table])[] {
  const folder = curvesFolder();
  if (folder !== undefined) return curveFiles(folder).map((table) => [table.name, table]);
  const why = "TRAINYARD_CURVES names no folder of curves, and none is beside the checkout.";
  if (process.env["TRAINYARD_CURVES_REQUIRED"] === "1") throw new Error(why);
  process.stderr.write(`Searches on real learning curves are not tested: ${why}\n`);
  return [];
}

/** Returns the median over three seeds of the best value after 25 full trainings. */
function best(table: Table, searcher: string): number {
  const parsed = parseForRecorded(`searcher: ${searcher}`, { defaults }, recordedOf(table));
  if (isRejection(parsed)) throw new Error(parsed.detail);
  const finals = [1, 2, 3].map((seed) => {
    const settings = { config: parsed.config, table, seed, workers: WORKERS, budget: 25 };
    return runOnTable(settings).incumbents[24] ?? Number.POSITIVE_INFINITY;
  });
  return finals.sort((a, b) => a - b)[1] ?? Number.POSITIVE_INFINITY;
}

test.for(realCurves())(
  "on the real curves of %s early stopping beats full trainings",
  ([, table]) => {
    const random = best(table, "{ name: random }");
    expect(best(table, "{ name: asha }")).toBeLessThan(random);
    expect(best(table, "{ name: auto }")).toBeLessThan(random);
  },
);
