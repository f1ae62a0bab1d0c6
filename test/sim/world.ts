/**
 * The deciding services of the platform, in one process and virtual time: the real experiments, searcher and, if
 * wanted, scheduler over a log and a bus in memory, with models of everything else. Processes die, and messages are
 * lost, late, doubled or reordered at random, all decided by the world's seed, so that a world can be repeated.
 */
import { createMemoryBus, type Delivery, type MemoryHub } from "@trainyard/bus/testing";
import type { StoredEvent } from "@trainyard/event-log";
import { createMemoryLog, type MemoryLog } from "@trainyard/event-log/testing";
import { type Clock, isTaskId } from "@trainyard/kernel";
import { RunGrants } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { Chance } from "./chance.ts";
import {
  breakOnce,
  breakTheBus,
  drawRestores,
  drawTroubles,
  dyingBetween,
  fateOf,
  hardshipMs,
  type Outage,
  type Restore,
  type Silence,
} from "./hardships.ts";
import { ModelCluster } from "./model-cluster.ts";
import { ModelHosts, slotsOfAll } from "./model-hosts.ts";
import { ModelRetention } from "./model-retention.ts";
import { Operators } from "./operators.ts";
import { People } from "./people.ts";
import { Platform, serviceNames } from "./platform.ts";
import { operate, type Refusals, refusalOf } from "./refusals.ts";
import { startRelay } from "./relay.ts";
import type { Moments } from "./rules/deadlines.ts";
import { drawSubmissions, type Submission } from "./submissions.ts";
import { TaskPeople } from "./task-people.ts";
import { Teller } from "./teller.ts";
import { throwing, type Throwing } from "./throwing.ts";
import { wanderingClock } from "./wrong-clocks.ts";

/** Long by default, since a pause's grace is an hour and several may follow each other. */
const stuckByDefaultMs = 6 * 3_600_000;
/** Messages under way when the last experiment has ended arrive within this time. */
const afterglowMs = 60_000;

/** The troubles of a world besides deaths and an unreliable bus. */
export type Hazards = {
  readonly outage?: Outage;
  /** Rewinds of the log. Only with the real scheduler, since the model of the cluster would remember lost runs. */
  readonly restores?: readonly Restore[];
  /** Wrong and jumping wall clocks: of every host of a service or an agent, or of the log's server too. */
  readonly wrongClocks?: "hosts" | "all";
  readonly refusals?: Refusals;
  /**
   * Until this time, operators drain, disable, remove and enable agents, and change pool and experiments. Only with the
   * real scheduler.
   */
  readonly operatorsUntilMs?: number;
  /** The agent on which every run fails at its start; all other hosts and all scripts are sound. */
  readonly brokenHost?: string;
  readonly throwing?: Throwing;
  /** All hosts and all scripts are sound. */
  readonly silence?: Silence;
};

export type WorldOptions = {
  readonly seed: number;
  /** True for a world without troubles and changes by users, to which other worlds are compared. */
  readonly calm?: boolean;
  /** Whether users change their minds; by default in worlds that are not calm. */
  readonly fickle?: boolean;
  /** Drawn from the seed by default; a calm world has none. */
  readonly hazards?: Hazards;
  /** True if the real scheduler places runs on agents; otherwise a model does both, with more kinds of behaviour. */
  readonly scheduler?: boolean;
  /** Drawn from the seed by default. */
  readonly submissions?: readonly Submission[];
  /** Whether users run tasks, too; by default if the submissions are drawn. */
  readonly tasks?: boolean;
  /** The time after which a world that still runs counts as stuck. */
  readonly stuckAfterMs?: number;
};

export type World = {
  readonly log: MemoryLog;
  readonly submissions: readonly Submission[];
  /** The experiments' ids, in the order of the submissions; fewer if the world got stuck earlier. */
  readonly experiments: readonly string[];
  readonly ended: boolean;
  readonly deaths: number;
  readonly virtualMs: number;
  readonly moments: Moments;
  readonly hazards: Hazards;
  /** The id of the last event on the bus. */
  readonly relayed: string;
};

export async function runWorld(options: WorldOptions): Promise<World> {
  const { seed, calm = false, scheduler = false, fickle = !calm } = options;
  const clock = new ManualClock();
  const hardship = new Chance(seed, "hardship");
  const { stuckAfterMs = stuckByDefaultMs } = options;
  const hazards = options.hazards ?? (calm ? {} : drawHazards(seed, scheduler));
  const clockOf = clocksOf(hazards, clock, seed);
  const log = createMemoryLog({ clock: clockOf("log") });
  const hub = createMemoryBus({
    clock,
    ...(calm ? {} : { fate: (delivery: Delivery) => fateOf(delivery, hardship) }),
  });
  const surroundings = await surround(options, { clock, log, hub, clockOf, hazards });
  const troubles = calm
    ? dyingBetween(hazards.restores ?? [], hazards.silence, hardship, clock)
    : drawTroubles(hardship, clock);
  const { refusals } = hazards;
  using _thrown = throwing(hazards.throwing, clock);
  const platform = new Platform({
    clock,
    log,
    hub,
    troublesOf: () => troubles,
    restartMs: () => hardship.between(0, 4_000),
    services: scheduler ? serviceNames : serviceNames.filter((name) => name !== "scheduler"),
    fanOuts: seed % 2 === 0 ? "beside" : "in_reactions",
    clockOf: (service, replica) => clockOf(`${service}/${replica}`),
    ...(refusals && { refusalOf: (commit) => refusalOf(refusals, commit, clock.monotonicMs()) }),
  });
  platform.start();
  const slotsMax = scheduler ? slotsOfAll : 1;
  const submissions =
    options.submissions ?? drawSubmissions(new Chance(seed, "submissions"), slotsMax);
  const chance = new Chance(seed, "people");
  const people = new People({ clock, chance, bus: hub.connect("people"), fickle, log });
  const tasks = TaskPeople.of(options, { clock, hub, log });
  if (!calm) breakTheBus(hub, clock, hardship);
  if (hazards.outage !== undefined) breakOnce(hub, clock, hazards.outage);
  if (refusals !== undefined) {
    clock.timer(refusals.untilMs, () => void operate(log, hub.connect("operator"), clock));
  }
  const operators = Operators.at(hazards.operatorsUntilMs, { clock, hub, seed });
  for (const restore of hazards.restores ?? []) {
    goBack(restore, clock, platform, () => {
      surroundings.rewound();
      void people.mend();
    });
  }
  void people.submitAll(submissions);
  const isOver = () =>
    clock.monotonicMs() > lastOf(hazards) &&
    people.content &&
    tasks.done &&
    operators.done &&
    haveEnded(log, people.submitted);
  while (!isOver() && clock.monotonicMs() < stuckAfterMs) await clock.step();
  const virtualMs = clock.monotonicMs();
  while (clock.monotonicMs() < virtualMs + afterglowMs) await clock.step();
  return {
    log,
    submissions,
    experiments: people.submitted,
    ended: isOver(),
    deaths: platform.deaths,
    virtualMs,
    moments: surroundings.moments,
    hazards,
    relayed: hub.last?.id ?? "",
  };
}

/** The time of the last hazard that has one. */
function lastOf({ refusals, throwing: thrown, restores = [] }: Hazards): number {
  const restoresMs = restores.map(({ restoreMs }) => restoreMs);
  return Math.max(0, refusals?.untilMs ?? 0, thrown?.untilMs ?? 0, ...restoresMs);
}

/** Each third of the worlds has wrong clocks, a log that goes back, or neither. */
function drawHazards(seed: number, scheduler: boolean): Hazards {
  const chance = new Chance(seed, "hazards");
  if (seed % 3 === 0) return { wrongClocks: "all" };
  return seed % 3 === 1 && scheduler ? { restores: drawRestores(chance) } : {};
}

/** The wall clock of each host by its name. */
function clocksOf(
  { wrongClocks }: Hazards,
  clock: ManualClock,
  seed: number,
): (host: string) => Clock {
  if (wrongClocks === undefined) return () => clock;
  return (host) =>
    host === "log" && wrongClocks === "hosts"
      ? clock
      : wanderingClock(clock, new Chance(seed, `clock of ${host}`), hardshipMs);
}

function goBack(
  { backupMs, restoreMs }: Restore,
  clock: ManualClock,
  platform: Platform,
  rewound: () => void,
): void {
  clock.timer(backupMs, () => {
    const restore = platform.backup();
    clock.timer(restoreMs - backupMs, () => {
      restore();
      rewound();
    });
  });
}

type Place = {
  readonly clock: ManualClock;
  readonly log: MemoryLog;
  readonly hub: MemoryHub;
  readonly clockOf: (host: string) => Clock;
  readonly hazards: Hazards;
};

type Surroundings = { readonly moments: Moments; readonly rewound: () => void };

/** Starts all parts except the deciding services. */
async function surround(
  { seed, calm = false, scheduler = false }: WorldOptions,
  { clock, log, hub, clockOf, hazards }: Place,
): Promise<Surroundings> {
  const isKnown = (trial: string, run: number): boolean => runsOf(log, trial) >= run;
  const teller = new Teller(log);
  const grants = new RunGrants(log.as("metrics"), clock);
  const model = { clock, chance: new Chance(seed, "model"), teller, steps: 50, isKnown, grants };
  const retention = new ModelRetention({ ...model, log });
  const { silence, brokenHost = silence === undefined ? undefined : "" } = hazards;
  // Runs train on after a silence.
  const pace = silence === undefined ? 1 : 20;
  const lastWord = hazards.refusals === undefined ? "" : `\0${"x".repeat(loudCharacters)}`;
  const hosts = scheduler
    ? new ModelHosts(hub, model, { clockOf, lastWord, brokenHost, pace })
    : null;
  const cluster = hosts ?? new ModelCluster(model);
  const moments = new Map<string, number>();
  const watching = await watch(log, (events) => {
    for (const { id } of events) moments.set(id, clock.monotonicMs());
    cluster.see(events);
    retention.see(events);
  });
  startRelay(log, hub, clock);
  await hosts?.start();
  if (!calm) hosts?.wander(hardshipMs);
  if (silence !== undefined) clock.timer(silence.afterMs, () => hosts?.freeze(silence));
  return {
    moments,
    rewound() {
      watching.rewound();
      retention.rewound();
      hosts?.rewound(log.store.events);
    },
  };
}

/** The length of a message that is too long for an event. */
const loudCharacters = 300_000;

/** Calls back with new events whenever they are appended. */
async function watch(
  log: MemoryLog,
  see: (events: readonly StoredEvent[]) => void,
): Promise<{ readonly rewound: () => void }> {
  let seen = 0;
  await log.as("model").onAppended(() => {
    const fresh = log.store.events.slice(seen);
    seen += fresh.length;
    see(fresh);
  });
  return {
    rewound() {
      seen = log.store.head;
    },
  };
}

/** The number of runs requested for a trial. */
/** Returns how many runs of a trial or a task were requested. */
function runsOf(log: MemoryLog, owner: string): number {
  const requests = log.store
    .stream(`${isTaskId(owner) ? "task" : "trial"}-${owner}`)
    .filter(({ type }) => type.includes(".RunRequested."));
  return requests.length;
}

/** True if the experiments have ended, and nothing is parked. */
function haveEnded(log: MemoryLog, experiments: readonly string[]): boolean {
  return log.store.parked(undefined).length === 0 && experiments.every((id) => hasEnded(log, id));
}

function hasEnded(log: MemoryLog, experiment: string): boolean {
  // Descriptions and archiving may follow the end.
  const last = log.store
    .stream(`experiment-${experiment}`)
    .findLast(({ type }) => /\.Experiment(?:Created|Ended|Continued)\./.test(type));
  return last?.type.includes(".ExperimentEnded.") === true;
}
