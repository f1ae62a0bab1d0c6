/**
 * Generated families of learning curves with the difficulties of real ones. The loss after step e is a + (b - a) (1 + e
 * / tau)^-p plus noise. The final loss a is a quadratic bowl over a few hyperparameters, and tau falls with the
 * learning rate. Some configurations diverge, and some stay at chance level until a random step. In some families the
 * better configurations start slower or worse, so that early values predict late ones badly or inversely.
 */
import type { JsonObject } from "@trainyard/experiment-config";
import { draw } from "@trainyard/kernel";
import { spaceOfColumns, type Table } from "@trainyard/search";

export type Family = {
  readonly name: string;
  readonly rows: number;
  readonly steps: number;
  readonly hyperparameters: number;
  /** The number of hyperparameters that affect the loss. */
  readonly relevant: number;
  /** The part of a configuration's final loss that its hyperparameters do not explain. */
  readonly rough: number;
  /** The standard deviation of a loss, where chance level is 1. */
  readonly noise: number;
  /** The share of configurations with a high learning rate that diverge at a random step. */
  readonly diverging: number;
  /** The share of configurations that learn nothing until a random step of the first half. */
  readonly late: number;
  /**
   * The natural logarithm of the ratio of the slowest to the quickest tau, and the number of steps in the quickest tau.
   */
  readonly slowest: number;
  readonly quickest: number;
  /** How strongly better configurations are slower, from 0 to 1. */
  readonly crossing: number;
  /** The number of first steps in which better configurations have larger losses. */
  readonly misleading: number;
};

export const plain: Family = {
  name: "plain",
  rows: 1_000,
  steps: 51,
  hyperparameters: 7,
  relevant: 4,
  rough: 0.05,
  noise: 0.01,
  diverging: 0.2,
  late: 0.2,
  slowest: 2,
  quickest: 60,
  crossing: 0,
  misleading: 0,
};
const quick = { steps: 52, late: 0, diverging: 0.04, quickest: 200, slowest: 1 };

export const families: readonly Family[] = [
  plain,
  { ...plain, name: "late", late: 0.45 },
  { ...plain, name: "diverging", diverging: 0.6, late: 0.1 },
  { ...plain, name: "crossing", crossing: 0.6, slowest: 3 },
  { ...plain, name: "misleading", ...quick, misleading: 1 },
  { ...plain, name: "misleading-long", ...quick, misleading: 4 },
  { ...plain, name: "late-crossing", crossing: 1, slowest: 4.5, late: 0.05 },
  { ...plain, name: "quick", ...quick },
  { ...plain, name: "noisy", noise: 0.08 },
  { ...plain, name: "unexplained", relevant: 0, rough: 0.3 },
  { ...plain, name: "many", hyperparameters: 10, relevant: 7, rough: 0.02 },
  { ...plain, name: "long", steps: 200, rows: 600 },
];

export function generatedTable(family: Family, seed: number): Table {
  const { name, rows: count, steps } = family;
  const names = Array.from({ length: family.hyperparameters }, (_, j) => `h${j}`);
  const share = (stream: string, row: number): number => draw(seed, `${name}/${stream}`, row);
  const shares = Array.from({ length: count }, (_, row) => names.map((key) => share(key, row)));
  const bowlAt = bowlOf(family, share);
  const values = new Float64Array(count * steps);
  for (const [row, at] of shares.entries()) {
    const curve = curveOf(family, at[0] ?? 0, bowlAt(at), (stream) => share(stream, row));
    for (let step = 1; step <= steps; step += 1) values[row * steps + step - 1] = curve(step);
  }
  const rows = shares.map(
    (at): JsonObject => Object.fromEntries(names.map((key, j) => [key, valueOf(j, at[j] ?? 0)])),
  );
  const columns = names.map((key, j) => ({
    name: key,
    values: shares.map((at) => valueOf(j, at[j] ?? 0)),
  }));
  return {
    name: `${name}-${seed}`,
    space: spaceOfColumns(columns),
    rows,
    steps,
    smallerIsBetter: true,
    valueAt: (row, step) => values[row * steps + step - 1] ?? Number.NaN,
  };
}

/** The distance of a configuration from the optimum: a weighted sum of squares over the relevant hyperparameters. */
export function bowlOf(
  family: Family,
  share: (stream: string, index: number) => number,
): (at: readonly number[]) => number {
  const axes = Array.from({ length: family.hyperparameters }, (_, j) => ({
    optimum: 0.2 + 0.6 * share("optimum", j),
    weight: j < family.relevant ? (1 + 3 * share("weight", j)) / (1 + j) : 0,
  }));
  return (at) =>
    axes.reduce((sum, { optimum, weight }, j) => sum + weight * ((at[j] ?? 0) - optimum) ** 2, 0);
}

/** Returns a value in a range of orders of magnitude, like a learning rate's, for every second hyperparameter. */
function valueOf(index: number, share: number): number {
  return index % 2 === 0 ? 10 ** (4 * share - 5) : 1 + share;
}

/** Returns the loss after each step; `share` returns the random draws of this training by stream. */
export function curveOf(
  family: Family,
  rate: number,
  bowl: number,
  share: (stream: string) => number,
): (step: number) => number {
  const { steps, crossing, noise } = family;
  const normal = (stream: string): number =>
    Math.sqrt(-2 * Math.log(1 - share(`${stream}/r`))) * Math.cos(2 * Math.PI * share(stream));
  const distance = bowl / 1.5 + 0.05 + family.rough * Math.abs(normal("rough"));
  const final = Math.min(1, 0.1 + 0.8 * (1 - Math.exp(-1.5 * distance)));
  const good = Math.exp(-2 * distance);
  const slow = (1 - crossing) * (1 - rate) * 0.6 + crossing * good * 1.6;
  const tau = (steps / family.quickest) * Math.exp(family.slowest * slow + 0.3 * normal("tau"));
  const power = 1 + 0.5 * share("power");
  const begin = 1 + 0.05 * normal("begin") + 0.3 * crossing * good;
  const onset = share("late") < family.late ? share("onset") * steps * 0.5 : 0;
  const diverges = rate > 0.5 && share("diverging") < family.diverging;
  const end = diverges ? Math.floor(share("end") * steps) : steps + 1;
  return (step) => {
    if (step >= end) return Number.NaN;
    const wobble = noise * normal(`noise/${step}`);
    if (step <= family.misleading) return 1 + 0.3 * good + 0.1 * normal("misled");
    if (step <= onset) return 1 + wobble;
    return final + (begin - final) * (1 + (step - onset) / tau) ** -power + wobble;
  };
}
