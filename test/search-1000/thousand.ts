/**
 * An ASHA search of trials without training, through all services as processes: the searcher has to keep up with the
 * reports, is killed in the middle, and must decide as an undisturbed one on the same inputs.
 */
import { eventually } from "../world/eventually.ts";
import type { World } from "../world/world.ts";

export type Lag = {
  readonly reports: number;
  /** Milliseconds from the commit of a report to that of the decision on it. */
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
};

export type Thousand = {
  readonly violations: readonly string[];
  /** The lag of reports that a running searcher received. */
  readonly lag: Lag;
  /** The lag of reports that were committed from the searcher's death until its successor had processed the backlog. */
  readonly takeover: Lag;
  readonly seconds: number;
};

type Outage = { readonly fromMs: number; readonly upMs: number };

type Decided = { readonly reportedMs: number; readonly decidedMs: number };

const overMs = 60 * 60_000;

/** The search uses `slots` slots of the cluster, which has to start dead parts again. */
export async function thousand(
  world: World,
  options: {
    readonly trials: number;
    readonly slots: number;
    readonly seed: number;
    readonly log: (line: string) => void;
  },
): Promise<Thousand> {
  const { trials, slots, seed, log } = options;
  const startedMs = performance.now();
  const id = await world.submit(configOf(trials, slots, seed), world.code("noop"));
  await proposed(world, id, Math.ceil(trials / 2));
  log(`kill -9 searcher with ${Math.ceil(trials / 2)} of ${trials} trials proposed`);
  const fromMs = Date.now();
  await world.untilUp("searcher", await world.kill("searcher"));
  const outage = { fromMs, upMs: Date.now() };
  await eventually(`experiment ${id} has ended`, async () => hasEnded(world, id), overMs);
  const seconds = (performance.now() - startedMs) / 1_000;
  return {
    violations: await violationsOf(world, id, trials),
    ...lags(await decisionsOf(world, id), outage),
    seconds,
  };
}

function configOf(trials: number, slots: number, seed: number): string {
  return `
name: thousand
entrypoint: python3 train.py
hyperparameters: { lr: { type: double, minval: 0, maxval: 1 } }
searcher: { name: asha, metric: loss, max_trials: ${trials}, max_time: 9, min_time: 1, divisor: 3, max_concurrent_trials: ${slots} }
reproducibility: { experiment_seed: ${seed} }
`;
}

async function proposed(world: World, id: string, trials: number): Promise<void> {
  await eventually(
    `${trials} trials are proposed`,
    async () => {
      const experiment = await world.client.call("getExperiment", { experiment: id });
      return experiment.trials >= trials;
    },
    overMs,
  );
}

async function hasEnded(world: World, id: string): Promise<boolean> {
  const { state } = await world.client.call("getExperiment", { experiment: id });
  return ["COMPLETED", "CANCELED", "ERROR"].includes(state);
}

async function violationsOf(world: World, id: string, trials: number): Promise<string[]> {
  const found: string[] = [];
  const { state, reason } = await world.client.call("getExperiment", { experiment: id });
  if (state !== "COMPLETED") found.push(`the experiment is ${state}: ${reason}`);
  const replay = await world.yard("search", "replay", id);
  if (!replay.out.endsWith(" decisions, 0 differences\n")) found.push(`${replay.out}${replay.err}`);
  const proposals = await countProposals(world, id);
  if (proposals < trials) found.push(`${proposals} trials were proposed, not ${trials}`);
  const { items: parked } = await world.client.call("listParked", {});
  found.push(...parked.map((one) => `parked: ${one.consumer} ${one.key} ${one.reason}`));
  return found;
}

async function countProposals(world: World, id: string): Promise<number> {
  let count = 0;
  for await (const { message } of world.client.stream("watchEvents", { noFollow: true })) {
    if (message.type.includes(".TrialProposed.") && message.subject === `search-${id}`) count += 1;
  }
  return count;
}

/** The commit times of each report and of the decision on it. */
async function decisionsOf(world: World, id: string): Promise<Decided[]> {
  const reportedAt = new Map<string, number>();
  const decided: Decided[] = [];
  for await (const { message } of world.client.stream("watchEvents", { noFollow: true })) {
    if (message.type.includes(".ValidationReported."))
      reportedAt.set(message.id, Date.parse(message.time));
    if (!message.type.includes(".ObservationRecorded.")) continue;
    if (message.subject !== `search-${id}`) continue;
    const reportedMs = reportedAt.get(String(message.data?.["measurement"]));
    if (reportedMs !== undefined) decided.push({ reportedMs, decidedMs: Date.parse(message.time) });
  }
  return decided;
}

function lags(decided: readonly Decided[], { fromMs, upMs }: Outage): { lag: Lag; takeover: Lag } {
  const waiting = decided.filter((one) => one.reportedMs <= upMs && one.decidedMs >= fromMs);
  const levelMs = Math.max(upMs, ...waiting.map((one) => one.decidedMs));
  const met = (one: Decided): boolean => one.decidedMs < fromMs || one.reportedMs > levelMs;
  return { lag: lagOf(decided.filter(met)), takeover: lagOf(decided.filter((one) => !met(one))) };
}

function lagOf(decided: readonly Decided[]): Lag {
  const sorted = decided.map((one) => one.decidedMs - one.reportedMs).toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { reports: sorted.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
