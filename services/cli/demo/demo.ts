/**
 * `npm start`: starts the embedded cluster and runs a search on it, examples/iris, from submission to the best model.
 */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@trainyard/client";
import type { Plain } from "@trainyard/contracts";
import type { Experiment, Trial } from "@trainyard/contracts/api";
import {
  checkout,
  clusterAccess,
  clusterDown,
  clusterStatus,
  clusterUp,
} from "@trainyard/local-cluster";
import { listTrials } from "../src/commands/trial.ts";
import { type SignInLink, signInLink } from "../src/commands/ui.ts";
import { isInPath } from "../src/environment.ts";
import { isOver, requireCompleted, waitForEnd } from "../src/follow.ts";
import { number, Output } from "../src/output.ts";
import { packContext } from "../src/pack-context.ts";
import { allPages } from "../src/pages.ts";
import { explain } from "../src/program.ts";
import { ProgressLine } from "../src/progress-line.ts";
import { Failure } from "../src/usage-error.ts";

const folder = join(checkout, "examples", "iris");
/** The name of the experiment in the example's search.yaml. */
const name = "iris";
/** The reason of a trial whose code ran to its end. */
const finished = "finished";
const heldOut = "held_out_accuracy";
/** The least accuracy of the best model: a network of this size reaches 0.93 to 1.0. */
const heldOutMin = 0.9;

/** The folder of the program `yard`. */
const programs = join(checkout, "bin");

/** Runs the demo and returns the exit code. */
export async function runDemo(): Promise<number> {
  const output = new Output("table");
  const staysUp = process.stdout.isTTY;
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => interrupted.abort());
  }
  let started: "nowhere" | "here" | "before" = "nowhere";
  let code: number;
  try {
    const onProgress = (step: string): void => output.line(step);
    const { cluster, alreadyUp } = await clusterUp({ web: true, onProgress });
    started = alreadyUp ? "before" : "here";
    const client = connect();
    output.line(`\nTrainyard is up: ${cluster.api}\n`);
    if (staysUp || alreadyUp) sayLink(output, await signInLink(client, cluster.api));
    else output.line("Without a terminal the cluster stops when this search has ended.\n");
    await train(client, output, interrupted.signal);
    code = interrupted.signal.aborted ? 130 : 0;
    if (code === 0) nextSteps(output, staysUp || alreadyUp);
    if (code === 0 && staysUp) output.line(`\n${cluster.api} serves until Ctrl-C.`);
    for (const note of (await clusterStatus())?.notes ?? []) output.line(`\n${note}`);
    if (code === 0 && staysUp) await aborted(interrupted.signal);
  } catch (error) {
    code = interrupted.signal.aborted ? 130 : explain(error);
  }
  if (started === "here") await goDown(output);
  if (started === "before") {
    output.line('\nthe cluster was up before and stays up; "yard cluster down" stops it');
  }
  // On a terminal Ctrl-C is the normal way to end the demo.
  return staysUp && interrupted.signal.aborted ? 0 : code;
}

function sayLink(output: Output, { link, until }: SignInLink): void {
  output.line(`Web UI: ${link}`);
  output.line(`The link signs a browser in once, until ${until}; "yard ui" prints another.\n`);
}

function connect(): Client {
  const access = clusterAccess();
  if (access === null) throw new Failure("The cluster has stopped.");
  return new Client({ url: access.api, token: access.token });
}

async function train(client: Client, output: Output, signal: AbortSignal): Promise<void> {
  const experiment = (await unfinished(client, output)) ?? (await submit(client, output));
  const ended = await watch(client, experiment, signal);
  if (ended === null) return;
  output.line("");
  await listTrials({ client, output }, experiment);
  await tellStopped(client, output, experiment);
  requireCompleted(ended);
  report(output, ended, await client.call("getTrial", { trial: ended.bestTrial ?? "" }));
}

/** Prints the trials that were stopped early, and why. */
async function tellStopped(client: Client, output: Output, experiment: string): Promise<void> {
  const { items } = await allPages((page) => client.call("listTrials", { experiment, ...page }));
  const stopped = items.filter(({ state, reason }) => state === "COMPLETED" && reason !== finished);
  if (stopped.length === 0) return;
  output.line(`\n${stopped.length} of ${items.length} trials were stopped early:`);
  output.fields(
    stopped.map(({ id, reason, stepsCompleted }) => [
      `  ${id} after ${stepsCompleted} epochs`,
      reason,
    ]),
  );
}

/** Returns the unfinished experiment of an earlier start, which the demo continues; null for none. */
async function unfinished(client: Client, output: Output): Promise<string | null> {
  const { items } = await client.call("listExperiments", {});
  const left = items.find((one) => one.name === name && !isOver(one));
  if (left === undefined) return null;
  if (left.state === "PAUSED") await client.call("activateExperiment", { experiment: left.id });
  output.line(`experiment ${left.id} (${name}) continues where it stopped`);
  return left.id;
}

async function submit(client: Client, output: Output): Promise<string> {
  const config = await readFile(join(folder, "search.yaml"), "utf8");
  const { bytes } = await packContext(folder, "examples/iris");
  const request = { config, context: bytes };
  const answer = await client.call("createExperiment", request, { idempotencyKey: randomUUID() });
  const id = answer.experiment?.id ?? "";
  output.line(
    `submitted examples/iris as experiment ${id}: a search by ${answer.experiment?.searcher}`,
  );
  return id;
}

async function watch(
  client: Client,
  experiment: string,
  signal: AbortSignal,
): Promise<Plain<Experiment> | null> {
  const progress = new ProgressLine(process.stdout);
  const ended = await waitForEnd(client, experiment, signal, {
    onChange: (now) => progress.experiment(now),
  });
  progress.end();
  return ended;
}

function report(output: Output, experiment: Plain<Experiment>, best: Plain<Trial>): void {
  const accuracy = best.bestValidation[heldOut];
  output.line(
    `\nThe best of ${experiment.trials} trials is ${best.id}: ${experiment.metric} ${number(experiment.bestValue)}.`,
  );
  if (accuracy === undefined) throw new Failure(`Trial ${best.id} did not report ${heldOut}.`);
  output.line(`Its accuracy on flowers that no trial saw: ${accuracy.toFixed(3)}.`);
  if (accuracy < heldOutMin) {
    throw new Failure(`That is below ${heldOutMin}: something is wrong with the training.`);
  }
}

function nextSteps(output: Output, staysUp: boolean): void {
  const steps = [
    ...(staysUp ? [] : [["yard cluster up", "start the cluster again, with its data"]]),
    ["yard ui", "a link to the Web UI, which signs a browser in"],
    ["yard experiment list", "the experiments"],
    ["yard trial list EXPERIMENT", "its trials, with their hyperparameters"],
    ["yard search explain EXPERIMENT", "why trials were stopped, and what else was decided"],
    ["yard --help", "everything else"],
    ["README.md", "how to train your own code"],
  ] as const;
  if (!isInPath(programs)) {
    output.line(`\nThe command yard in your shell: export PATH="${programs}:$PATH"`);
  }
  output.line("\nWhere to go next:");
  output.fields(steps.map(([what, why]) => [`  ${what}`, why]));
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    // The timer keeps the process alive; a signal listener alone would not.
    const kept = setInterval(() => {}, 60_000);
    signal.addEventListener("abort", () => {
      clearInterval(kept);
      resolve();
    });
  });
}

async function goDown(output: Output): Promise<void> {
  output.line("\nstopping the cluster; its data stays, and the next start continues");
  await clusterDown();
}
