/**
 * Compares trials that do nothing with a Slurm job array that does nothing, and the time from submitting to the
 * script's first line.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@trainyard/client";
import {
  type Bar,
  type BenchContext,
  type BenchResult,
  costResult,
  rateResult,
} from "../../support/bench.ts";
import { benchCluster } from "../../support/cluster.ts";
import { interleave, median } from "../../support/measure.ts";
import { Slurm, slurmProblem } from "./slurm.ts";

const noop: Bar = { id: "noop_tasks_vs_slurm", unit: "tasks/s", floor: 1.5, goal: 5 };
const first: Bar = { id: "first_output_vs_slurm", unit: "ms", floor: null, goal: 10 };
const slots = 8;
/** The timeout of a round, for one that hangs. */
const waitMs = 900_000;
/** The interval between checks for the end of a round. */
const lookMs = 50;

const sizes = {
  tiny: { nodes: 1, tasks: 8, rounds: 1, lines: 1 },
  short: { nodes: 4, tasks: 1_000, rounds: 1, lines: 9 },
  full: { nodes: 4, tasks: 1_000, rounds: 3, lines: 25 },
} as const;

/** The interface that Trainyard and Slurm share in this benchmark. */
type Side = {
  readonly name: string;
  /** A folder to which jobs may write. */
  readonly folder: string;
  /** Runs `tasks` tasks of `true`; resolves when all have ended. */
  readonly noops: (tasks: number) => Promise<void>;
  /** Submits one run of a shell command; resolves once it is submitted. */
  readonly submit: (command: string) => Promise<void>;
  /** Returns whether no run waits or runs any more. */
  readonly isIdle: () => Promise<boolean>;
};

/** The cluster and Slurm run at the same time, since both need little when idle; their rounds alternate. */
export async function besideSlurm(context: BenchContext): Promise<readonly BenchResult[]> {
  const { nodes, tasks, rounds, lines } = sizes[context.size];
  const problem = slurmProblem();
  if (problem !== null) context.say(`Slurm: not run, because ${problem}`);
  await using cluster = benchCluster(context, { agents: nodes, slots });
  await cluster.up();
  await using slurm = problem === null ? await Slurm.start({ nodes, cpusOfNode: slots }) : null;
  using owned = new DisposableStack();
  for (const pid of slurm?.pids ?? []) owned.use(context.watch.own(pid));
  const sides = [oursOf(cluster.home, cluster.client())];
  if (slurm !== null) sides.push(slurmOf(slurm));

  context.say("submit until the script's first line");
  const contenders = sides.map((side) => ({ name: side.name, round: () => firstLineMs(side) }));
  const [firstMs = Number.NaN, theirMs = null] = await interleave(contenders, lines, context);
  // The earlier runs were the warm-up of these.
  context.say(`${tasks} tasks of \`true\` on ${nodes} agents with ${slots} slots each`);
  const rates = sides.map((): number[] => []);
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, side] of sides.entries()) {
      const rate = await tasksPerSecond(side, tasks);
      rates[index]?.push(rate);
      context.say(`  round ${round} of ${rounds}, ${side.name}: ${rate.toPrecision(4)}`);
    }
  }
  const [rate = Number.NaN, theirRate = null] = rates.map(median);
  const beside = problem === null ? "" : `; Slurm: not run, because ${problem}`;
  return [
    rateResult(noop, rate, theirRate, `${tasks} trials of \`true\` beside a job array${beside}`),
    costResult(first, firstMs, theirMs, `p50 of ${lines}, stamped by the script itself${beside}`),
  ];
}

async function tasksPerSecond(side: Side, tasks: number): Promise<number> {
  const start = performance.now();
  await side.noops(tasks);
  return tasks / ((performance.now() - start) / 1_000);
}

/** Measures one run, and resolves when the run has ended, so that the next round finds an idle side. */
async function firstLineMs({ folder, submit, isIdle }: Side): Promise<number> {
  const file = join(folder, `stamp-${randomUUID()}`);
  const startMs = Date.now();
  await submit(`date +%s%3N > ${file}`);
  await until(isIdle);
  return Number(readFileSync(file, "utf8")) - startMs;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + waitMs;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`round not over after ${waitMs / 1_000} s`);
    await delay(lookMs);
  }
}

function oursOf(folder: string, client: Client): Side {
  let experiment = "";
  const create = async (entrypoint: string, trials: number): Promise<void> => {
    const config = `name: noop
entrypoint: ${JSON.stringify(entrypoint)}
hyperparameters: { x: { type: double, minval: 0, maxval: 1 } }
searcher: { name: random, metric: loss, max_trials: ${trials}, max_concurrent_trials: ${trials} }
resources: { slots_per_trial: 1 }
max_restarts: 0
`;
    const options = { idempotencyKey: randomUUID() };
    const created = await client.call(
      "createExperiment",
      { config, context: new Uint8Array() },
      options,
    );
    experiment = created.experiment?.id ?? "";
  };
  const isIdle = async (): Promise<boolean> => {
    const { state, reason } = await client.call("getExperiment", { experiment });
    if (state === "ERROR" || state === "CANCELED") throw new Error(`${state}: ${reason}`);
    return state === "COMPLETED";
  };
  return {
    name: "trainyard",
    folder,
    async noops(tasks) {
      await create("true", tasks);
      await until(isIdle);
    },
    submit: (command) => create(command, 1),
    isIdle,
  };
}

function slurmOf(slurm: Slurm): Side {
  const { folder } = slurm;
  const isIdle = async (): Promise<boolean> =>
    (await slurm.call("squeue", "--noheader", "--format=%A")) === "";
  const submit = async (...words: readonly string[]): Promise<void> => {
    await slurm.call("sbatch", "--ntasks=1", "--output=/dev/null", ...words);
  };
  return {
    name: "Slurm",
    folder,
    async noops(tasks) {
      await submit(`--array=1-${tasks}`, "--wrap=true");
      await until(isIdle);
    },
    submit: (command) => submit("--wrap", command),
    isIdle,
  };
}
