/** A search whose trials step, validate and checkpoint, and the conditions that it must meet whatever was killed. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@trainyard/client";
import { eventually } from "../world/eventually.ts";
import type { World } from "../world/world.ts";

const trialsOfSearch = 16;
export const stepsOfTrial = 24;
/** The short tests have fewer trials, each of which starts its own Python, and fewer checkpoints. */
export const shortSearch = { trials: 5, steps: 12 } as const;
const validateEvery = 3;

export type SearchUnderTest = {
  readonly id: string;
  readonly witness: string;
  readonly trials: number;
  readonly steps: number;
  /** Once this file exists, the search's steps take no time. */
  readonly hurry: string;
};

export type SearchSize = {
  readonly seed: number;
  readonly stepSeconds: number;
  readonly trials?: number;
  /** The steps of a trial, a multiple of `validateEvery`. */
  readonly steps?: number;
};

/** Submits the search; `stepSeconds` sets its duration, the seed its hyperparameters. */
export async function submitSearch(world: World, options: SearchSize): Promise<SearchUnderTest> {
  const { trials = trialsOfSearch, steps = stepsOfTrial } = options;
  const witness = join(world.folder, `witness-${options.seed}-${options.stepSeconds}`);
  const hurry = `${witness}-hurry`;
  const config = `
name: under-test
entrypoint: python3 train.py
hyperparameters:
  lr: { type: log, base: 10, minval: -4, maxval: -1 }
  hidden: { type: int, minval: 2, maxval: 64 }
  activation: { type: categorical, vals: [relu, tanh] }
searcher: { name: random, metric: loss, smaller_is_better: true, max_trials: ${trials} }
max_restarts: 5
reproducibility: { experiment_seed: ${options.seed} }
environment:
  environment_variables:
    - STEPS=${steps}
    - STEP_SECONDS=${options.stepSeconds}
    - WITNESS=${witness}
    - HURRY=${hurry}
`;
  return { id: await world.submit(config, world.code("steps")), witness, trials, steps, hurry };
}

/**
 * Waits until the search has at least one more validation than at the call. The gateway may be down meanwhile. Returns
 * whether the search was over before.
 */
export async function untilMoreValidations(client: Client, experiment: string): Promise<boolean> {
  let before = Number.NaN;
  let over = false;
  await eventually("another validation", async () => {
    const now = await validations(client, experiment);
    if (Number.isNaN(before)) before = now;
    over = await isOver(client, experiment);
    return now > before || over;
  });
  return over;
}

async function validations(client: Client, experiment: string): Promise<number> {
  const { items } = await client.call("listTrials", { experiment, pageSize: 100 });
  return items.reduce((sum, trial) => sum + trial.stepsCompleted, 0);
}

export async function isOver(client: Client, experiment: string): Promise<boolean> {
  const { state } = await client.call("getExperiment", { experiment });
  return ["COMPLETED", "CANCELED", "ERROR"].includes(state);
}

export async function untilOver(client: Client, experiment: string, forMs?: number): Promise<void> {
  await eventually(`experiment ${experiment} has ended`, () => isOver(client, experiment), forMs);
}

/** Returns a sentence for each violation; none if all conditions are met. */
export async function violationsOf(world: World, search: SearchUnderTest): Promise<string[]> {
  const client = world.client;
  const experiment = await client.call("getExperiment", { experiment: search.id });
  const { items: trials } = await client.call("listTrials", {
    experiment: search.id,
    pageSize: 100,
  });
  const found: string[] = [];
  if (experiment.state !== "COMPLETED") {
    found.push(`the experiment is ${experiment.state}: ${experiment.reason}`);
  }
  if (trials.length !== search.trials) found.push(`there are ${trials.length} trials`);
  for (const { id, state } of trials) {
    if (state !== "COMPLETED") found.push(`trial ${id} is ${state}`);
    found.push(...(await metricViolations(client, id, search.steps)));
  }
  if (existsSync(search.witness)) {
    const twice = readdirSync(search.witness).filter((name) => name.endsWith(".twice"));
    found.push(...twice.map((name) => `two processes at the same time: ${name}`));
  } else found.push("no trial left its witness");
  const verified = await world.yard("log", "verify");
  if (verified.code !== 0) found.push(`log verify: ${verified.out}${verified.err}`);
  const { items: parked } = await client.call("listParked", {});
  found.push(...parked.map((one) => `parked: ${one.consumer} ${one.key} ${one.reason}`));
  return found;
}

/** Checks that every step was reported and counted exactly once. */
async function metricViolations(client: Client, trial: string, steps: number): Promise<string[]> {
  const violations: string[] = [];
  for (const [group, every] of [
    ["training", 1],
    ["validation", validateEvery],
  ] as const) {
    const page = await client.call("listTrialMetrics", { trial, group, pageSize: 500 });
    const found = page.items.map((point) => point.stepsCompleted).sort((a, b) => a - b);
    const wanted = Array.from({ length: steps / every }, (_, index) => (index + 1) * every);
    if (JSON.stringify(found) !== JSON.stringify(wanted)) {
      violations.push(`trial ${trial} has ${group} metrics of the steps ${found.join(" ")}`);
    }
  }
  return violations;
}

/** The hyperparameters of each trial, in the order of their numbers. */
export async function hyperparametersOf(client: Client, experiment: string): Promise<unknown[]> {
  const { items } = await client.call("listTrials", { experiment, pageSize: 100 });
  return items.toSorted((a, b) => a.number - b.number).map((trial) => trial.hyperparameters);
}
