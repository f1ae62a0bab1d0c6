/**
 * Trials report and subscribers follow while parts of the platform die. Afterwards the stored table has each report
 * once, as it was reported, and each subscriber has got each stored report once, in the order of the positions.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Plain } from "@trainyard/contracts";
import type { MetricPoint } from "@trainyard/contracts/api";
import { drawInteger } from "@trainyard/kernel";
import { clusterStatus } from "@trainyard/local-cluster";
import { runToken } from "@trainyard/runtime";
import { eventually } from "../world/eventually.ts";
import { World } from "../world/world.ts";
import { type Report, Reporter } from "./reporters.ts";
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
  /** Between two requests of a trial, on average. */
  readonly pauseMs: number;
  readonly troubles: readonly Trouble[];
  readonly log: (line: string) => void;
};

export type Found = { readonly violations: readonly string[]; readonly summary: string };

const awayMsMax = 3_000;
const quietMs = 1_500;

export async function troubledMetrics(options: Options): Promise<Found> {
  const { seed, log, trials: count } = options;
  const slots = count;
  await using world = await World.start({ processes: true, slots, restart: false });
  const experiment = await submitted(world, count);
  const trials = Array.from({ length: count }, (_, index) => `${experiment}.${index + 1}`);
  const reporters = await reportersOf(world, trials, options);
  const over = new AbortController();
  const enough = new AbortController();
  const { client } = world;
  const grpc = (await clusterStatus(world.home))?.grpc ?? "";
  const token = readFileSync(join(world.home, "token"), "utf8").trim();
  const source = { experiment, client: () => client, grpc: () => grpc, token, seed };
  const subscribers = subscribe({ ...source, until: over.signal });
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
  over.abort();
  await Promise.all(subscribers.map(({ running }) => running));
  const truth = reporters.flatMap(({ truth: own }, index) =>
    own.map((report) => textOfReport(trials[index] ?? "", report)),
  );
  const restarts = options.troubles.filter(({ part }) => part === "postgres").length;
  const violations = [
    ...reporters.flatMap((reporter) => reporter.violations),
    ...differences("the stored table", stored.map(textOfPoint), truth),
    ...subscribers.flatMap((subscriber) => violationsOf(subscriber, stored, restarts)),
  ];
  return { violations: violations.slice(0, 20), summary: summaryOf(reporters, subscribers) };
}

/** Trials that do nothing themselves: the reporters speak for them. */
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

async function reportersOf(
  world: World,
  trials: readonly string[],
  { seed, pauseMs }: Options,
): Promise<readonly Reporter[]> {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(world.home, name), "utf8"));
  const { runTokenKey } = read("secrets.json") as {
    readonly runTokenKey: { readonly id: string; readonly secretHex: string };
  };
  const { metrics: port } = read("ports.json") as { readonly metrics: number };
  const key = { id: runTokenKey.id, secret: Buffer.from(runTokenKey.secretHex, "hex") };
  const grpc = (await clusterStatus(world.home))?.metricsGrpc ?? "";
  return trials.map((trial) => {
    const run = `${trial}#1`;
    const to = { http: `http://127.0.0.1:${port}`, grpc, run, token: runToken(key, run, 0) };
    return new Reporter(to, seed, pauseMs);
  });
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
  const said = await world.yard("cluster", "restart", part);
  if (said.code !== 0) throw new Error(`${part} could not be started again: ${said.err}`);
}

type Stored = Plain<MetricPoint>;

async function storedPoints(world: World, trials: readonly string[]): Promise<readonly Stored[]> {
  const points: Stored[] = [];
  for (const trial of trials) {
    for (let pageToken = ""; ; ) {
      const request = { trial, superseded: true, pageSize: 1_000, pageToken };
      const page = await world.client.call("listTrialMetrics", request, { outlast: true });
      points.push(...page.items);
      pageToken = page.nextPageToken;
      if (pageToken === "") break;
    }
  }
  return points;
}

function untilAllHeard(subscribers: readonly Subscriber[], count: number): Promise<void> {
  return eventually(
    "each subscriber has got everything",
    async () => subscribers.every(({ heard }) => heard.length >= count),
    60_000,
  );
}

/**
 * Its positions are 1, 2, 3, …, with one leap at most for each restart of PostgreSQL, and its points those of the
 * table.
 */
function violationsOf(
  { name, heard }: Subscriber,
  stored: readonly Stored[],
  restarts: number,
): readonly string[] {
  const before = (index: number): number => heard[index - 1]?.position ?? 0;
  const wrong = heard.findIndex(({ position }, index) => position <= before(index));
  const leaps = heard.filter(({ position }, index) => position > before(index) + 1).length;
  const told = heard.map(({ point }) => textOfPoint(point));
  return [
    ...(wrong < 0 ? [] : [`${name}: position ${heard[wrong]?.position} after ${before(wrong)}`]),
    ...(leaps <= restarts ? [] : [`${name}: ${leaps} leaps of the position, ${restarts} restarts`]),
    ...differences(name, told, stored.map(textOfPoint)),
  ];
}

function differences(
  what: string,
  found: readonly string[],
  expected: readonly string[],
): readonly string[] {
  const left = new Map<string, number>();
  for (const text of expected) left.set(text, (left.get(text) ?? 0) + 1);
  const violations: string[] = [];
  for (const text of found) {
    const count = left.get(text) ?? 0;
    if (count === 0) violations.push(`${what} has what it should not have, or twice: ${text}`);
    left.set(text, count - 1);
  }
  for (const [text, count] of left) if (count > 0) violations.push(`${what} lacks ${text}`);
  return violations;
}

/** A point as text, the same of a report and of what is stored or heard of it. */
function textOf(trial: string, key: string, ...rest: readonly unknown[]): string {
  return JSON.stringify([trial, key, ...rest], (_, value: unknown) =>
    typeof value === "number" && !Number.isFinite(value) ? String(value) : value,
  );
}

const inOrder = (values: object): unknown =>
  Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1));

function textOfReport(trial: string, report: Report): string {
  const { key, group, stepsCompleted, atMs, metrics } = report;
  return textOf(trial, key, group, stepsCompleted, atMs, inOrder(metrics));
}

function textOfPoint(point: Stored): string {
  const { trial, key, group, stepsCompleted, reportedAtMs, metrics, others } = point;
  return textOf(
    trial,
    key,
    group,
    stepsCompleted,
    reportedAtMs,
    inOrder({ ...metrics, ...others }),
  );
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
