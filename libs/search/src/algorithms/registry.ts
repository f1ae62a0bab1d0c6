import { assert } from "@trainyard/kernel";
import type { Algorithm } from "../algorithm.ts";
import type { SearchPlan } from "../state.ts";
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

/**
 * All versions of each algorithm that recorded searches may use, by its name in the configuration. New searches use the
 * last.
 */
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
const known = Object.values(versions).flat();

export function newestAlgorithm(name: string, algorithms = known): Algorithm | undefined {
  return algorithms.findLast((algorithm) => algorithm.name === name);
}

export function recordedAlgorithm(
  name: string,
  version: number,
  algorithms = known,
): Algorithm | undefined {
  return algorithms.find((algorithm) => algorithm.name === name && algorithm.version === version);
}

/** The algorithm of a started search, by the recorded name and version. */
export function algorithmOf({ algorithm: name, algorithmVersion }: SearchPlan): Algorithm {
  const algorithm = recordedAlgorithm(name, algorithmVersion);
  if (algorithm === undefined)
    assert(false, `version ${algorithmVersion} of ${name} search is known`);
  return algorithm;
}

/** The algorithm names that a new search may use. */
export function algorithmNames(): readonly string[] {
  return [...new Set(known.map(({ name }) => name))];
}
