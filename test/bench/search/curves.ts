/**
 * Searches with early stopping on learning curves, with eight workers: the regret that remains, as a share of a random
 * training's, after a number of full trainings' worth of steps. The baselines are promotion and stopping ASHA with
 * random configurations.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseForRecorded, type RecordedTrainings } from "@trainyard/experiment-config";
import { isRejection } from "@trainyard/kernel";
import { curveTable, runOnTable, type Table } from "@trainyard/search";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { median } from "../support/measure.ts";
import { families, generatedTable } from "./curve-families.ts";
import { geometricMean } from "./quality.ts";

export const WORKERS = 8;
/** The share of the scale that counts as no regret. */
const NO_REGRET = 0.005;

const searchers = {
  auto: "{ name: auto }",
  bohb: "{ name: bohb }",
  "asha promotion": "{ name: asha }",
  "asha stopping": "{ name: asha, resume: false }",
  random: "{ name: random }",
} as const;
/** A storage folder, which a cluster's default configuration would have. */
export const defaults = {
  checkpoint_storage: { type: "directory", container_path: "/checkpoints" },
};
type Method = keyof typeof searchers;
const randomAsha: readonly Method[] = ["asha promotion", "asha stopping"];

/** Reads every curve file of a folder. */
export function curveFiles(folder: string): readonly Table[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json") && name !== "spec.json")
    .sort()
    .map((name) => {
      const file: unknown = JSON.parse(readFileSync(join(folder, name), "utf8"));
      const table = curveTable(name.slice(0, -".json".length), file);
      if (isRejection(table)) throw new Error(`${name} ${table.detail}`);
      return table;
    });
}

/** The regrets of all methods at all budgets, as shares of the regret of a random training. */
type Regrets = ReadonlyMap<Method, readonly number[]>;

export async function compareCurves(
  { size, say }: BenchContext,
  folder: string | undefined,
): Promise<readonly BenchResult[]> {
  const seeds = { tiny: 1, short: 5, full: 20 }[size];
  const budgets = size === "tiny" ? [2] : [10, 25, 50];
  const generated = families
    .slice(0, { tiny: 1, short: 6, full: families.length }[size])
    .map((family) => generatedTable(size === "tiny" ? { ...family, rows: 60 } : family, 1));
  const tables = [
    ...(folder === undefined || size === "tiny" ? [] : curveFiles(folder)),
    ...generated,
  ];
  say(
    `learning curves: ${WORKERS} workers, ${seeds} seeds; regret × 100 at ${budgets.join(", ")} full trainings`,
  );
  const cells: Cell[] = [];
  for (const table of tables) {
    const regrets = regretsOn(table, seeds, budgets);
    // Yields to the event loop, for instance to the report.
    await new Promise((resolve) => setImmediate(resolve));
    const shown = [...regrets].map(
      ([method, values]) => `${method} ${values.map(percent).join(" ")}`,
    );
    say(`  ${table.name.padEnd(36)} ${shown.join("   ")}`);
    cells.push(...cellsOf(table.name, regrets, budgets));
  }
  return resultsOf(cells, seeds, tables.length);
}

const percent = (regret: number): string => (100 * regret).toFixed(1).padStart(5);

function regretsOn(table: Table, seeds: number, budgets: readonly number[]): Regrets {
  const finals = table.rows.map((_, row) => table.valueAt(row, table.steps));
  const known = finals.map((value) => (Number.isFinite(value) ? value : Number.POSITIVE_INFINITY));
  const best = known.reduce((least, value) => Math.min(least, value));
  const scale = median(known) - best;
  const methods = Object.keys(searchers) as Method[];
  return new Map(
    methods.map((method) => {
      const runs = incumbentsOf(method, table, seeds, Math.max(...budgets));
      const regretAt = (budget: number): number =>
        Math.max(
          0,
          (median(runs.map((values) => values[budget - 1] ?? Number.POSITIVE_INFINITY)) - best) /
            scale,
        );
      return [method, budgets.map(regretAt)];
    }),
  );
}

/** The recorded facts about a table's trainings that searches may use. */
export function recordedOf(table: Table): RecordedTrainings {
  return {
    space: table.space,
    metric: "valid",
    smallerIsBetter: table.smallerIsBetter,
    timeMetric: "step",
    maxTime: table.steps,
    trials: table.rows.length,
    workers: WORKERS,
  };
}

function incumbentsOf(method: Method, table: Table, seeds: number, budget: number) {
  const parsed = parseForRecorded(
    `searcher: ${searchers[method]}`,
    { defaults },
    recordedOf(table),
  );
  if (isRejection(parsed)) throw new Error(parsed.detail);
  const { config } = parsed;
  return Array.from({ length: seeds }, (_, i) => {
    const run = runOnTable({ config, table, seed: i + 1, workers: WORKERS, budget });
    const last = run.incumbents.at(-1) ?? null;
    return Array.from({ length: budget }, (_unused, at) => run.incumbents[at] ?? last);
  });
}

/** The regrets on one table at one budget. */
type Cell = { readonly at: string; readonly ours: number; readonly theirs: number };

function cellsOf(name: string, regrets: Regrets, budgets: readonly number[]): readonly Cell[] {
  const regret = (method: Method, i: number): number =>
    Math.max(NO_REGRET, regrets.get(method)?.[i] ?? Number.POSITIVE_INFINITY);
  return budgets.map((budget, i) => ({
    at: `${name} at ${budget}`,
    ours: regret("auto", i),
    theirs: Math.min(...randomAsha.map((method) => regret(method, i))),
  }));
}

function resultsOf(cells: readonly Cell[], seeds: number, tables: number): readonly BenchResult[] {
  const [first] = cells;
  if (first === undefined) throw new Error("there is a table");
  const worst = cells.reduce((a, b) => (b.theirs / b.ours < a.theirs / a.ours ? b : a), first);
  const note = `of a random training's regret; ${seeds} seeds; beside the better form of ASHA with random configurations`;
  const mean = (of: (cell: Cell) => number): number => geometricMean(cells.map(of));
  const bar = (id: string, goal: number) => ({ id, unit: "regret", floor: null, goal });
  return [
    costResult(
      bar("auto_vs_random_asha", 1),
      mean(({ ours }) => ours),
      mean(({ theirs }) => theirs),
      `${note}; geometric mean over ${tables} tables`,
    ),
    costResult(
      bar("auto_vs_random_asha_worst", 0.95),
      worst.ours,
      worst.theirs,
      `${note}; where it is worst: ${worst.at}`,
    ),
  ];
}
