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
import type { SearcherName } from "@trainyard/experiment-config";

/** Under the name in the configuration every version that a recorded search may have; the last is what new searches get. */
const versions: { readonly [Name in SearcherName]: readonly Algorithm[] } = {
  single: [single],
  random: [random],
  grid: [grid],
  sobol: [sobol],
  tpe: [tpe],
  gp: [gp],
  pbt: [pbt],
  schedule: [schedule],
  asha: [asha],
  bohb: [bohb],
  auto: [auto],
  adaptive_asha: [adaptiveAsha],
  async_halving: [asyncHalving],
  hyperband: [hyperband],
  custom: [custom],
};
const algorithms = Object.values(versions).flat();

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
