/** The speed of searches as pure folds, also with 100,000 trials. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";

const run = promisify(execFile);

type Measured = {
  readonly few: number;
  readonly many: number;
  readonly stateMb: number;
  readonly rssMb: number;
};

const flatness = { id: "asha_fold_flatness", unit: "reports/s", floor: 0.5, goal: 0.8 };

export async function measureFolds({ size, say }: BenchContext): Promise<readonly BenchResult[]> {
  // More than run at once, since the last tenth of the trials is measured, and takes longer than a tick of the
  // processor's time, 4 ms.
  const [fewer, trials] = size === "tiny" ? [100, 4_000] : [1_000, 100_000];
  const rounds = { tiny: 1, short: 3, full: 7 }[size];
  const results: BenchResult[] = [];
  for (const kind of ["asha", "median", "no_improvement"]) {
    say(`${kind} as a pure fold, ${trials} trials`);
    const main = join(import.meta.dirname, "fold-main.ts");
    const { stdout } = await run(process.execPath, [
      "--expose-gc",
      main,
      kind,
      String(fewer),
      String(trials),
      String(kind === "asha" ? rounds : 1),
    ]);
    const { few, many, stateMb, rssMb } = JSON.parse(stdout) as Measured;
    const bar =
      kind === "asha"
        ? flatness
        : { id: `${kind}_fold_flatness`, unit: "reports/s", floor: null, goal: 0.5 };
    const note = `reports decided a second of processor time at ${trials} trials; at ${fewer.toLocaleString("en-US")} trials; the state takes ${stateMb.toFixed(0)} MB, the process at most ${rssMb.toFixed(0)} MB`;
    results.push(rateResult(bar, many, few, note));
  }
  return results;
}
