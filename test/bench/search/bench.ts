/** Searches compared with Optuna's samplers of the same kind, by quality and by speed. */
import type { BenchContext, BenchResult } from "../support/bench.ts";
import { compareContinuous } from "./continuous.ts";
import { compareCurves } from "./curves.ts";
import { measureDurable } from "./durable.ts";
import { measureFolds } from "./fold.ts";
import { measureOpening } from "./opening.ts";
import { Peer } from "./peer.ts";
import { measurePopulation } from "./population.ts";
import { functions } from "./problems.ts";
import { pythonWithOptuna } from "./python.ts";
import { type Comparison, compareQuality } from "./quality.ts";
import { sayReplacements } from "./replacements.ts";
import { measureSeveralWorkers } from "./several-workers.ts";
import { compareSpeed, type SpeedComparison } from "./speed.ts";
import { curvesFolder, tables } from "./tables.ts";
import { sayTimeLeft } from "./time-left.ts";

const tpe: Omit<Comparison, "bar"> = {
  ours: "tpe",
  theirs: ["tpe", "tpe_multivariate"],
  budgets: [50, 100, 200],
};
const gp: Omit<Comparison, "bar"> = { ours: "gp", theirs: ["gp"], budgets: [50, 100] };
const bar = (id: string, goal: number | null) => ({ id, unit: "regret", floor: null, goal });

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const { size, say } = context;
  sayTimeLeft(context);
  const folds = [
    ...(await measureFolds(context)),
    ...(await measureDurable(context)),
    ...(await measureOpening(context)),
  ];
  const python = await peerPython(context);
  const seeds = Array.from({ length: { tiny: 1, short: 5, full: 20 }[size] }, (_, i) => i + 1);
  const compared = async (of: Omit<Comparison, "bar">, id: string, goal: number | null) => {
    const budgets = size === "tiny" ? [12] : of.budgets;
    return await compareQuality(
      size === "tiny" ? functions.slice(0, 1) : functions,
      { ...of, budgets, bar: bar(id, goal) },
      seeds,
      python,
      say,
    );
  };
  const results = [
    ...folds,
    await compared(tpe, "tpe_vs_optuna_median", 1),
    await compared(gp, "gp_vs_optuna_median", 1),
  ];
  const folder = curvesFolder();
  if (folder === undefined)
    say("no tables: TRAINYARD_CURVES names no folder, and none is beside the checkout");
  else {
    const budgets = size === "tiny" ? [12] : tpe.budgets;
    const comparison = { ...tpe, budgets, bar: bar("tpe_tables_vs_optuna_median", null) };
    results.push(await compareQuality(tables(folder), comparison, seeds, python, say));
  }
  results.push(...(await compareCurves(context, folder)), ...(await compareContinuous(context)));
  results.push(measurePopulation(context), ...measureSeveralWorkers(seeds, context));
  await sayReplacements(context);
  for (const comparison of speeds(size)) {
    results.push(await compareSpeed(ackley(), comparison, python, context));
  }
  return results;
}

/** Finds a Python with Optuna; a test of this benchmark uses an existing environment and installs none. */
async function peerPython({ size, say }: BenchContext): Promise<string | undefined> {
  const python = await pythonWithOptuna(say, size !== "tiny");
  if (python === undefined) {
    say("Optuna cannot be imported: ours are measured without it");
    return undefined;
  }
  await using peer = await Peer.start(python);
  say(`beside Optuna ${peer.version}${peer.gp ? "" : ", without its Gaussian process"}`);
  return python;
}

function ackley() {
  const problem = functions.find(({ name }) => name === "ackley5");
  if (problem === undefined) throw new Error("Ackley's function is among those that are measured");
  return problem;
}

function speeds(size: BenchContext["size"]): readonly SpeedComparison[] {
  const rounds = { tiny: 1, short: 5, full: 9 }[size];
  const speedBar = (id: string, goal: number) => ({ id, unit: "suggestions/s", floor: null, goal });
  return [
    {
      ours: "tpe",
      theirs: "tpe_multivariate",
      trials: size === "tiny" ? 20 : 1_000,
      window: size === "tiny" ? 2 : 50,
      rounds,
      bar: speedBar("tpe_suggest_1000_vs_optuna", 7),
    },
    {
      ours: "gp",
      theirs: "gp",
      trials: size === "tiny" ? 20 : 250,
      window: size === "tiny" ? 2 : 10,
      rounds,
      bar: speedBar("gp_suggest_250_vs_optuna", 2),
    },
  ];
}
