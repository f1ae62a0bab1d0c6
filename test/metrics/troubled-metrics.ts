/**
 * Trials report and subscribers follow while parts of the platform die. Afterwards the stored table has each report
 * once and unchanged, and each subscriber has got each stored report once, in the order of the positions.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { drawInteger } from "@trainyard/kernel";
import { clusterStatus } from "@trainyard/local-cluster";
import type { World } from "../world/world.ts";
import { Reporter } from "./reporters.ts";
import { RestartedTrial } from "./restarted-trial.ts";
import {
  destinationOf,
  differences,
  storedPoints,
  textOfPoint,
  textOfReport,
  untilAllHeard,
  violationsOf,
} from "./stored.ts";
import { type Subscriber, subscribe } from "./subscribers.ts";

/** A part that is killed with kill -9 and started again; `wipe` deletes the data of NATS meanwhile. */
export type Trouble = { readonly part: string; readonly wipe?: boolean };

export const allTroubles: readonly Trouble[] = [
  { part: "metrics" },
  { part: "gateway" },
  { part: "postgres" },
  { part: "nats" },
  { part: "nats", wipe: true },
];

export type Options = {
  readonly seed: number;
  readonly trials: number;
  /** The average pause between two requests of a trial. */
  readonly pauseMs: number;
  readonly troubles: readonly Trouble[];
  /** If set, another trial trains, is killed after step 537, and continues from step 400. */
  readonly restarted?: boolean;
  readonly log: (line: string) => void;
};

export type Found = { readonly violations: readonly string[]; readonly summary: string };

const awayMsMax = 3_000;
const quietMs = 1_500;

/** The cluster must not start dead parts again, and have a slot for each trial. */
export async function troubledMetrics(world: World, options: Options): Promise<Found> {
  const { seed, log, trials: count } = options;
  const experiment = await submitted(world, count);
  const trials = Array.from({ length: count }, (_, index) => `${experiment}.${index + 1}`);
  const reporters = await reportersOf(world, trials, options);
  const over = new AbortController();
  const enough = new AbortController();
  const { client } = world;
  const grpc = (await clusterStatus(world.home))?.grpc ?? "";
  const token = readFileSync(join(world.home, "token"), "utf8").trim();
  const source = { experiment, client: () => client, grpc: () => grpc, token, seed };
  const until = over.signal;
  const subscribers = subscribe({ ...source, until });
  const restarted = options.restarted === true ? await RestartedTrial.start(world) : null;
  const others = restarted === null ? [] : subscribe({ ...source, ...restarted, until });
  const reporting = reporters.map((reporter) => reporter.run(enough.signal));
  for (const [turn, trouble] of options.troubles.entries()) {
    await delay(quietMs + drawInteger(seed, "quiet", turn, quietMs));
    await strike(world, trouble, drawInteger(seed, "away", turn, awayMsMax), log);
  }
  await delay(quietMs);
  enough.abort();
  await Promise.all(reporting);
  log("everything is acknowledged; waiting for the subscribers");
  const stored = await storedPoints(world, trials);
  await untilAllHeard(subscribers, stored.length).catch(() => {});
  const restarts = options.troubles.filter(({ part }) => part === "postgres").length;
  const ofRestarted = (await restarted?.violations(others, restarts)) ?? [];
  over.abort();
  await Promise.all([...subscribers, ...others].map(({ running }) => running));
  await client.call(
    "killExperiment",
    { experiment },
    { outlast: true, idempotencyKey: experiment },
  );
  const truth = reporters.flatMap(({ truth: own }, index) =>
    own.map((report) => textOfReport(trials[index] ?? "", report)),
  );
  const violations = [
    ...ofRestarted,
    ...reporters.flatMap((reporter) => reporter.violations),
    ...differences("the stored table", stored.map(textOfPoint), truth),
    ...subscribers.flatMap((subscriber) => violationsOf(subscriber, stored, restarts)),
  ];
  return { violations: violations.slice(0, 20), summary: summaryOf(reporters, subscribers) };
}

/** Trials that report nothing themselves: the reporters send their reports. */
async function submitted(world: World, trials: number): Promise<string> {
  const config = `
name: metrics
entrypoint: sleep 3600
hyperparameters: { x: { type: double, minval: 0, maxval: 1 } }
searcher: { name: random, metric: loss, max_trials: ${trials} }
`;
  world.write("idle/.keep", "");
  const experiment = await world.submit(config, "idle");
  await world.untilTrials(
    experiment,
    (all) =>
      all.length === trials &&
      all.every(({ runs }) => runs.some(({ state }) => state === "RUNNING")),
  );
  return experiment;
}

function reportersOf(
  world: World,
  trials: readonly string[],
  { seed, pauseMs }: Options,
): Promise<readonly Reporter[]> {
  return Promise.all(
    trials.map(
      async (trial) => new Reporter(await destinationOf(world, `${trial}#1`), seed, pauseMs),
    ),
  );
}

async function strike(
  world: World,
  { part, wipe = false }: Trouble,
  awayMs: number,
  log: (line: string) => void,
): Promise<void> {
  log(`kill -9 ${part}${wipe ? ", its data deleted" : ""}, away for ${awayMs} ms`);
  await world.kill(part);
  await delay(awayMs);
  if (wipe) rmSync(join(world.home, part), { recursive: true, force: true });
  await world.restart(part);
}

function summaryOf(reporters: readonly Reporter[], subscribers: readonly Subscriber[]): string {
  const total = (of: (reporter: Reporter) => number): number =>
    reporters.reduce((sum, reporter) => sum + of(reporter), 0);
  const reconnects = subscribers.map(({ name, reconnects: count }) => `${name} ${count()}`);
  return [
    `${total(({ truth }) => truth.length)} reports in ${total(({ sent }) => sent.requests)} requests`,
    `${total(({ sent }) => sent.repeats)} reported again, ${total(({ sent }) => sent.cut)} requests cut`,
    `${total(({ sent }) => sent.failed)} without an answer; connections: ${reconnects.join(", ")}`,
  ].join(", ");
}
