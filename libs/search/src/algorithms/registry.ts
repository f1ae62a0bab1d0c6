import type { Algorithm } from "../algorithm.ts";
import { adaptiveAsha } from "./adaptive-asha.ts";
import { asha } from "./asha.ts";
import { auto } from "./auto.ts";
import { bohb } from "./bohb.ts";
import { asyncHalving } from "./async-halving.ts";
import { custom } from "./custom.ts";
import { gp } from "./gp.ts";
import { grid } from "./grid.ts";
import { hyperband } from "./hyperband.ts";
import { pbt } from "./pbt.ts";
import { random, single } from "./random.ts";
import { schedule } from "./schedule.ts";
import { sobol } from "./sobol.ts";
import { tpe } from "./tpe.ts";

/** Every version that a recorded search may have; the last of a name is what new searches get. */
const algorithms: readonly Algorithm[] = [
  single,
  random,
  grid,
  sobol,
  tpe,
  gp,
  pbt,
  schedule,
  asha,
  bohb,
  auto,
  adaptiveAsha,
  asyncHalving,
  hyperband,
  custom,
];

export function newestAlgorithm(name: string): Algorithm | undefined {
  return algorithms.findLast((algorithm) => algorithm.name === name);
}

const known = new Map<string, Algorithm[]>();
for (const algorithm of algorithms) {
  known.set(algorithm.name, [...(known.get(algorithm.name) ?? []), algorithm]);
}

export function recordedAlgorithm(name: string, version: number): Algorithm | undefined {
  const versions = known.get(name);
  const newest = versions?.at(-1);
  if (newest?.version === version) return newest;
  return versions?.find((algorithm) => algorithm.version === version);
}

/** The names that new searches may have. */
export function algorithmNames(): readonly string[] {
  return [...known.keys()];
}
