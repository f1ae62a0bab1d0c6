/**
 * What decides in the platform, in one process and virtual time: the real experiments, searcher and, if wanted, scheduler
 * over a log and a bus in memory, with models of everything else. Chance decides who dies, what is lost, late, doubled or
 * out of order; all chance comes from the world's seed, so a world can be seen again.
 */
import { createMemoryBus, type Delivery, type Fate, type MemoryHub } from "@trainyard/bus";
import { createMemoryLog, type MemoryLog, type StoredEvent } from "@trainyard/event-log";
import { ManualClock } from "@trainyard/testing";
import { Chance } from "./chance.ts";
import { ModelCluster } from "./model-cluster.ts";
import { ModelHosts, slotsOfAll } from "./model-hosts.ts";
import { ModelRetention } from "./model-retention.ts";
import type { Trouble, Troubles } from "./mortal-log.ts";
import { People } from "./people.ts";
import { Platform, serviceNames } from "./platform.ts";
import { startRelay } from "./relay.ts";
import { drawSubmissions, type Submission } from "./submissions.ts";
import { Teller } from "./teller.ts";

/** After this much virtual time a world that still runs is stuck: a pause's grace is an hour, and several may follow. */
const stuckAfterMs = 6 * 3_600_000;
/** Hardship ends after this, so that what is left can be seen to come to an end. */
const hardshipMs = 10 * 60_000;
/** What is on its way when the last experiment has ended arrives within this. */
const afterglowMs = 20_000;

export type WorldOptions = {
  readonly seed: number;
  /** Without any hardship, and people stay with what they said: what the others are compared with. */
  readonly calm?: boolean;
  /** The bus is away once, and perhaps comes back empty, whatever else happens. */
  readonly outage?: { readonly afterMs: number; readonly forMs: number; readonly wipe: boolean };
  /** Runs are placed on agents by the real scheduler; otherwise a model of both ends runs in more ways than they would. */
  readonly scheduler?: boolean;
  /** By default as the seed has it. */
  readonly submissions?: readonly Submission[];
};

export type World = {
  readonly log: MemoryLog;
  readonly submissions: readonly Submission[];
  /** The experiments' ids, in the order of the submissions; fewer if the world got stuck before. */
  readonly experiments: readonly string[];
  readonly ended: boolean;
  readonly deaths: number;
  readonly virtualMs: number;
};

export async function runWorld(options: WorldOptions): Promise<World> {
  const { seed, calm = false, scheduler = false } = options;
  const clock = new ManualClock();
  const hardship = new Chance(seed, "hardship");
  const log = createMemoryLog({ clock });
  const hub = createMemoryBus({
    clock,
    ...(calm ? {} : { fate: (delivery: Delivery) => fateOf(delivery, hardship) }),
  });
  await surround(options, clock, log, hub);
  const troubles = calm ? noTroubles : drawTroubles(hardship, clock);
  const restartMs = () => hardship.between(0, 4_000);
  const troublesOf = () => troubles;
  const services = scheduler ? serviceNames : serviceNames.filter((name) => name !== "scheduler");
  const fanOuts = seed % 2 === 0 ? "beside" : "in_reactions";
  const platform = new Platform({ clock, log, hub, troublesOf, restartMs, services, fanOuts });
  platform.start();
  if (!calm) breakTheBus(hub, clock, hardship);
  if (options.outage !== undefined) breakOnce(hub, clock, options.outage);
  const slotsMax = scheduler ? slotsOfAll : 1;
  const submitted =
    options.submissions ?? drawSubmissions(new Chance(seed, "submissions"), slotsMax);
  const chance = new Chance(seed, "people");
  const people = new People({ clock, chance, bus: hub.connect("people"), fickle: !calm });
  void people.submitAll(submitted);
  const isOver = () => people.content && people.submitted.every((id) => hasEnded(log, id));
  while (!isOver() && clock.monotonicMs() < stuckAfterMs) await clock.step();
  const virtualMs = clock.monotonicMs();
  while (clock.monotonicMs() < virtualMs + afterglowMs) await clock.step();
  return {
    log,
    submissions: submitted,
    experiments: people.submitted,
    ended: isOver(),
    deaths: platform.deaths,
    virtualMs,
  };
}

const noTroubles: Troubles = () => null;

/** Every third world is gentle, so that what only long runs without deaths reach is reached too. */
function drawTroubles(chance: Chance, clock: ManualClock): Troubles {
  const scale = chance.pick([1, 5, 25]);
  return (): Trouble | null => {
    if (clock.monotonicMs() > hardshipMs) return null;
    if (chance.happens(0.0008 * scale)) return { kind: "death" };
    if (chance.happens(0.0004 * scale))
      return { kind: "stop", forMs: chance.between(2_000, 12_000) };
    return chance.happens(0.001 * scale) ? { kind: "fault" } : null;
  };
}

function fateOf({ kind }: Delivery, chance: Chance): Fate {
  if (chance.happens(0.05)) return { copies: 0 };
  const copies = kind !== "reply" && chance.happens(0.05) ? 2 : 1;
  return chance.happens(0.2) ? { copies, delayMs: chance.between(1, 800) } : { copies };
}

/** Away for a while, and sometimes with nothing left of what it held when it is back. */
function breakTheBus(hub: MemoryHub, clock: ManualClock, chance: Chance): void {
  if (clock.monotonicMs() > hardshipMs) return;
  clock.timer(chance.between(5_000, 120_000), () => {
    hub.disconnect();
    clock.timer(chance.between(100, 30_000), () => {
      if (chance.happens(0.3)) hub.wipe();
      hub.reconnect();
      breakTheBus(hub, clock, chance);
    });
  });
}

function breakOnce(
  hub: MemoryHub,
  clock: ManualClock,
  { afterMs, forMs, wipe }: NonNullable<WorldOptions["outage"]>,
): void {
  clock.timer(afterMs, () => {
    hub.disconnect();
    clock.timer(forMs, () => {
      if (wipe) hub.wipe();
      hub.reconnect();
    });
  });
}

/** Everything that is no deciding service. */
async function surround(
  { seed, calm = false, scheduler = false }: WorldOptions,
  clock: ManualClock,
  log: MemoryLog,
  hub: MemoryHub,
): Promise<void> {
  const model = { clock, chance: new Chance(seed, "model"), teller: new Teller(log), steps: 50 };
  const retention = new ModelRetention({ ...model, log });
  const hosts = scheduler ? new ModelHosts(hub, model) : null;
  const cluster = hosts ?? new ModelCluster(model);
  await watch(log, (events) => {
    cluster.see(events);
    retention.see(events);
  });
  await startRelay(log, hub);
  await hosts?.start();
  if (!calm) hosts?.wander(hardshipMs);
}

/** Calls back with what is new whenever something is. */
async function watch(log: MemoryLog, see: (events: readonly StoredEvent[]) => void): Promise<void> {
  let seen = 0;
  await log.as("model").onAppended(() => {
    const fresh = log.store.events.slice(seen);
    seen += fresh.length;
    see(fresh);
  });
}

function hasEnded(log: MemoryLog, experiment: string): boolean {
  const last = log.store.stream(`experiment-${experiment}`).at(-1);
  return last?.type.includes(".ExperimentEnded.") === true;
}
