/** `yard search simulate`: runs a searcher in virtual time on trainings that a table recorded. */
import { readFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { isRejection, type Rejection } from "@trainyard/kernel";
import type { BudgetSummary, Table, TableRun } from "@trainyard/search";
import { type Command, InvalidArgumentError } from "commander";
import { overrides, parseForTable, readConfig } from "../../config-file.ts";
import { outputOf } from "../../context.ts";
import { callerPath } from "../../environment.ts";
import { number, type Output } from "../../output.ts";
import { UsageError } from "../../usage-error.ts";

type Options = {
  readonly config: readonly string[];
  readonly table: string;
  readonly workers: number;
  readonly seeds: number;
  readonly budget?: number;
};

/** The least number of budgets in a summary, so that searches of different lengths can be compared. */
const BUDGETS_MIN = 50;
const SEEDS_MAX = 10_000;

const about = `
The table stands in for the training: it has the hyperparameters (those of the configuration
are ignored), the metric "valid", its direction, and the time metric "step"; max_time is its
number of steps. The other keys of the searcher hold, with no more trials than the table has
rows, and no more at a time than there are workers. A trial that is drawn by chance gets a row
drawn from those not yet used, any other the nearest row not yet used.

incumbents: the best value that any trial has reported at any step, once all trials together
have trained as many steps as 1, 2, … full trainings; stopped: trials that were stopped before
their last step or are still suspended at the end.`;

export function addSimulate(group: Command): void {
  group
    .command("simulate")
    .argument("<config>", "the experiment's YAML file")
    .requiredOption(
      "--table <file>",
      "learning curves (.json), or a grid (.f32 beside a spec.json)",
    )
    .option("--workers <count>", "trials that train at a time", counted, 8)
    .option("--seeds <count>", "searches, with the seeds 1, 2, …", counted, 20)
    .option("--budget <trainings>", "full trainings to spend at most in a search", counted)
    .addOption(overrides())
    .description("what a searcher would find in trainings that are recorded already")
    .addHelpText("after", about)
    .action(simulate);
}

function counted(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= SEEDS_MAX) return count;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${SEEDS_MAX}.`);
}

async function simulate(file: string, options: Options, command: Command): Promise<void> {
  const output = outputOf(command);
  const { lengthened, runOnTable, summaryOf } = await import("@trainyard/search");
  const { workers, budget } = options;
  const text = await readConfig(file, options.config);
  const table = await readTable(options.table);
  const { config, warnings } = await parseForTable(text, options.config, {
    space: table.space,
    metric: "valid",
    smallerIsBetter: table.smallerIsBetter,
    timeMetric: "step",
    maxTime: table.steps,
    trials: table.rows.length,
    workers,
  });
  for (const { path, detail } of warnings) output.note(`warning: ${path}: ${detail}`);
  const runs: TableRun[] = [];
  for (let seed = 1; seed <= options.seeds; seed += 1) {
    const spent = budget === undefined ? {} : { budget };
    runs.push(runOnTable({ config, table, seed, workers, ...spent }));
  }
  const seeds = lengthened(runs, budget ?? BUDGETS_MIN);
  show(output, seeds, summaryOf(seeds, table.smallerIsBetter));
}

function show(output: Output, seeds: readonly TableRun[], summary: readonly BudgetSummary[]): void {
  if (output.json) {
    output.line(JSON.stringify({ seeds, summary }));
    return;
  }
  const shown = (value: number | null): string => (value === null ? "none" : number(value));
  output.table(summary, [
    { title: "FULL TRAININGS", value: ({ budget }) => String(budget), right: true },
    { title: "Q25", value: ({ q25 }) => shown(q25), right: true },
    { title: "MEDIAN", value: ({ median }) => shown(median), right: true },
    { title: "Q75", value: ({ q75 }) => shown(q75), right: true },
  ]);
  const mean = (of: (run: TableRun) => number): string =>
    number(seeds.reduce((sum, run) => sum + of(run), 0) / seeds.length);
  output.line(
    `${seeds.length} searches, in the mean ${mean((run) => run.trials)} trials, ${mean((run) => run.stopped)} of them stopped early`,
  );
}

async function readTable(file: string): Promise<Table> {
  const { curveTable, gridTable } = await import("@trainyard/search");
  const path = callerPath(file);
  const extension = extname(path);
  const name = basename(path, extension);
  if (extension === ".json")
    return right(file, curveTable(name, parsed(file, await read(path, file))));
  if (extension === ".f32") {
    const bytes = await read(path, file);
    const spec = join(dirname(path), "spec.json");
    return right(file, gridTable(name, parsed(spec, await read(spec, spec)), bytes));
  }
  throw new UsageError(`The table ${file} must end in .json (learning curves) or .f32 (a grid).`);
}

function right(file: string, table: Table | Rejection): Table {
  if (isRejection(table)) throw new UsageError(`The table ${file} ${table.detail}.`);
  return table;
}

function parsed(file: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`The table ${file} is not JSON: ${why}.`);
  }
}

async function read(path: string, shown: string): Promise<Uint8Array> {
  return await readFile(path).catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "does not exist" : `cannot be read (${code ?? message})`;
    throw new UsageError(`The table ${shown} ${why}.`);
  });
}
