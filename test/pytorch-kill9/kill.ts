/**
 * A training on two agents, whose parts are killed with kill -9 one after the other, and which is then paused and
 * activated: it must end with exactly the losses and the weights of an undisturbed training.
 */
import { readdirSync, readFileSync } from "node:fs";
import { drawInteger } from "@trainyard/kernel";
import { eventually } from "../world/eventually.ts";
import { lossesOf, submitTraining, type Training, weightsOf } from "../world/torch-run.ts";
import { World } from "../world/world.ts";

/** A part is a process of the cluster, or `rank-<n>` for a process of the training. */
export const parts = [
  "rank-0",
  "rank-1",
  "rank-2",
  "rank-3",
  "agent-1",
  "agent-2",
  "experiments",
  "searcher",
  "scheduler",
  "metrics",
  "logs",
  "registry",
  "checkpoint-gc",
  "relay",
  "gateway",
  "nats",
  "postgres",
  "supervisor",
] as const;

export type Part = (typeof parts)[number];

const endMs = 900_000;
const agents = 2;

export type Killed = { readonly killed: number; readonly violations: readonly string[] };

export async function killParts(options: {
  readonly seed: number;
  readonly parts: readonly Part[];
  /** The processes of the training on each agent. */
  readonly ranksOfAgent: number;
  /** The least time of a batch, so long that all kills and the pause fall into the training. */
  readonly batchSeconds: number;
  readonly batches: number;
  readonly log: (line: string) => void;
}): Promise<Killed> {
  const { seed, log, batchSeconds, batches, ranksOfAgent: slots } = options;
  await using world = await World.start({ processes: true, agents, slots, python: true });
  const size = { slots: agents * slots, batchSize: 16, batches };
  const training: Training = { ...size, checkpointBatches: 5 };
  const calm = await submitTraining(world, training);
  await untilOver(world, calm);
  const trial = await submitTraining(world, { ...training, batchSeconds });
  const violations: string[] = [];
  let killed = 0;
  for (const part of shuffled(options.parts, seed)) {
    if (await untilMoreBatches(world, trial)) {
      violations.push(`it ended before ${part} was killed`);
      continue;
    }
    log(`kill -9 ${part}`);
    await killPart(world, trial, part);
    killed += 1;
  }
  if (await untilMoreBatches(world, trial)) violations.push("it ended before it was paused");
  else {
    log("every part was killed; the training is paused and activated");
    violations.push(...(await pauseAndActivate(world, trial)));
  }
  violations.push(...(await differences(world, calm, trial)));
  const ranks = options.parts.filter((part) => part.startsWith("rank-")).length;
  const { restarts } = await world.client.call("getTrial", { trial });
  if (restarts < ranks)
    violations.push(`${restarts} restarts after ${ranks} kills of its processes`);
  const verified = await world.yard("log", "verify");
  if (verified.code !== 0) violations.push(`log verify: ${verified.out}${verified.err}`);
  return { killed, violations };
}

async function killPart(world: World, trial: string, part: Part): Promise<void> {
  const [, rank] = /^rank-(\d)$/.exec(part) ?? [];
  if (rank !== undefined) {
    let pid: number | undefined;
    await eventually(`${part} runs`, async () => {
      pid = pidOfRank(world, trial, Number(rank));
      return pid !== undefined;
    });
    if (pid !== undefined) process.kill(pid, "SIGKILL");
    return;
  }
  const pid = await world.kill(part);
  // No process restarts the supervisor: a person does.
  if (part === "supervisor") await world.up();
  else await world.untilUp(part, pid);
}

/** Returns a sentence for each deviation from a run that stops for the pause, and a second that finishes. */
async function pauseAndActivate(world: World, trial: string): Promise<string[]> {
  const [experiment = ""] = trial.split(".");
  const before = await world.client.call("getTrial", { trial });
  await world.client.call("pauseExperiment", { experiment });
  await eventually("its run has stopped", async () => {
    return (await world.client.call("getTrial", { trial })).runs.at(-1)?.state === "ENDED";
  });
  await world.client.call("activateExperiment", { experiment });
  await untilOver(world, trial);
  const { restarts, runs } = await world.client.call("getTrial", { trial });
  const found: string[] = [];
  const ends = runs
    .slice(before.runs.length - 1)
    .map(({ whyEnded, message }) => `${whyEnded}: ${message}`);
  if (ends.join() !== "acknowledged_stop: pause,finished: ")
    found.push(`the runs around the pause ended with ${ends.join(" and ")}`);
  // A pause costs no restart.
  if (restarts !== before.restarts)
    found.push(`${before.restarts} restarts before the pause, ${restarts} after it`);
  return found;
}

async function untilOver(world: World, trial: string): Promise<void> {
  await eventually(`trial ${trial} has ended`, () => isOver(world, trial), endMs);
}

async function isOver(world: World, trial: string): Promise<boolean> {
  return isEnd((await world.client.call("getTrial", { trial })).state);
}

const isEnd = (state: string): boolean => ["COMPLETED", "CANCELED", "ERROR"].includes(state);

/**
 * Waits until the training has done some batches since the call, so that it has recovered from the previous kill.
 * Returns whether it was over.
 */
async function untilMoreBatches(world: World, trial: string): Promise<boolean> {
  let before: string | undefined;
  let over = false;
  await eventually("more batches", async () => {
    const { state, runs } = await world.client.call("getTrial", { trial });
    over = isEnd(state);
    const now = `${runs.length}/${(await lossesOf(world, trial)).length}`;
    if (before === undefined && runs.at(-1)?.state === "RUNNING") before = now;
    return over || (before !== undefined && now !== before && runs.at(-1)?.state === "RUNNING");
  });
  return over;
}

/** Returns a sentence for each difference between the disturbed and the calm training; none if they are equal. */
async function differences(world: World, calm: string, trial: string): Promise<string[]> {
  const found: string[] = [];
  const { state, reason } = await world.client.call("getTrial", { trial });
  if (state !== "COMPLETED") found.push(`the trial is ${state}: ${reason}`);
  const [theirs, ours] = [await lossesOf(world, calm), await lossesOf(world, trial)];
  const other = theirs.findIndex((loss, n) => loss !== ours[n]);
  if (other !== -1 || ours.length !== theirs.length) {
    found.push(
      `of ${theirs.length} and ${ours.length} losses that of batch ${other + 1} is ${ours[other]}, undisturbed ${theirs[other]}`,
    );
  }
  const [wanted, got] = [await weightsOf(world, calm), await weightsOf(world, trial)];
  if (wanted.length !== 1) found.push(`undisturbed, its processes said ${wanted.join(" and ")}`);
  if (got.join() !== wanted.join())
    found.push(`it said ${got.join()}, undisturbed ${wanted.join()}`);
  return found;
}

function shuffled(names: readonly Part[], seed: number): readonly Part[] {
  const left = [...names];
  return names.flatMap((_, index) =>
    left.splice(drawInteger(seed, "pytorch-kill9", index, left.length), 1),
  );
}

/** The process with this rank in a trial of this world's cluster, read from /proc; undefined if it does not exist. */
function pidOfRank(world: World, trial: string, rank: number): number | undefined {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => {
      const variables = environmentOf(pid);
      return (
        variables.has(`TRAINYARD_TRIAL_ID=${trial}`) &&
        variables.has(`RANK=${rank}`) &&
        [...variables].some((one) => one.startsWith(`TRAINYARD_RUN_DIR=${world.home}`))
      );
    });
}

function environmentOf(pid: number): ReadonlySet<string> {
  try {
    return new Set(readFileSync(`/proc/${pid}/environ`, "utf8").split("\0"));
  } catch {
    // The process ended meanwhile, or belongs to another user.
    return new Set();
  }
}
