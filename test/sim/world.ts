/**
 * The deciding services of the platform, in one process and virtual time: the real experiments, searcher and, if
 * wanted, scheduler over a log and a bus in memory, with models of everything else. Chance decides who dies, what is
 * lost, late, doubled or out of order; all chance comes from the world's seed, so a world can be seen again.
 */
import { createMemoryBus, type Delivery, type MemoryHub } from "@trainyard/bus";
import { createMemoryLog, type MemoryLog, type StoredEvent } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
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
} from "./hardships.ts";
import { ModelCluster } from "./model-cluster.ts";
import { ModelHosts, slotsOfAll } from "./model-hosts.ts";
import { ModelRetention } from "./model-retention.ts";
import { People } from "./people.ts";
import { Platform, serviceNames } from "./platform.ts";
import { Operators } from "./operators.ts";
import { operate, type Refusals, refusalOf } from "./refusals.ts";
import { startRelay } from "./relay.ts";
import type { Moments } from "./rules/deadlines.ts";
import { drawSubmissions, type Submission } from "./submissions.ts";
import { Teller } from "./teller.ts";
import { wanderingClock } from "./wrong-clocks.ts";

/** The default is long, as a pause's grace is an hour and several may follow. */
const stuckByDefaultMs = 6 * 3_600_000;
/** Messages on their way when the last experiment has ended arrive within this. */
const afterglowMs = 60_000;

/** The troubles of a world beside deaths and a bad bus. */
export type Hazards = {
  readonly outage?: Outage;
  /** The log goes back. Only with the scheduler: the model of the cluster remembers runs that never were. */
  readonly restores?: readonly Restore[];
  /** Wall clocks that are wrong, and jump: of every host of a service or an agent, or of the log's server as well. */
  readonly wrongClocks?: "hosts" | "all";
  readonly refusals?: Refusals;
  /**
   * Users drain, disable, remove and enable agents, and change pool and experiments, until then. Only with the
   * scheduler.
   */
  readonly operatorsUntilMs?: number;
};

export type WorldOptions = {
  readonly seed: number;
  /** Without any hardship, and people stay with what they said: what the others are compared with. */
  readonly calm?: boolean;
  /** Whether people change their minds; by default in worlds that are not calm. */
  readonly fickle?: boolean;
  /** The seed decides by default; a calm world has none. */
  readonly hazards?: Hazards;
  /**
   * Runs are placed on agents by the real scheduler; otherwise a model of both ends runs in more ways than they would.
   */
  readonly scheduler?: boolean;
  /** The seed decides by default. */
  readonly submissions?: readonly Submission[];
  /** A world that still runs after this is stuck. */
  readonly stuckAfterMs?: number;
};

export type World = {
  readonly log: MemoryLog;
  readonly submissions: readonly Submission[];
  /** The experiments' ids, in the order of the submissions; fewer if the world got stuck before. */
  readonly experiments: readonly string[];
  readonly ended: boolean;
  readonly deaths: number;
  readonly virtualMs: number;
  readonly moments: Moments;
  readonly hazards: Hazards;
  /** The id of the last event that the bus holds. */
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
    ? dyingBetween(hazards.restores ?? [], hardship, clock)
    : drawTroubles(hardship, clock);
  const { refusals } = hazards;
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
  const restoresMs = (hazards.restores ?? []).map(({ restoreMs }) => restoreMs);
  const lastHazardMs = Math.max(0, refusals?.untilMs ?? 0, ...restoresMs);
  const isOver = () =>
    clock.monotonicMs() > lastHazardMs &&
    people.content &&
    operators.done &&
    log.store.parked(undefined).length === 0 &&
    people.submitted.every((id) => hasEnded(log, id));
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

/** A third of the worlds each: wrong clocks, a log that goes back, neither. */
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

/** Everything that is no deciding service. */
async function surround(
  { seed, calm = false, scheduler = false }: WorldOptions,
  { clock, log, hub, clockOf, hazards }: Place,
): Promise<Surroundings> {
  const isKnown = (trial: string, run: number): boolean => runsOf(log, trial) >= run;
  const teller = new Teller(log);
  const model = { clock, chance: new Chance(seed, "model"), teller, steps: 50, isKnown };
  const retention = new ModelRetention({ ...model, log });
  const lastWord = hazards.refusals === undefined ? "" : `\0${"x".repeat(loudCharacters)}`;
  const hosts = scheduler ? new ModelHosts(hub, model, { clockOf, lastWord }) : null;
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
  return {
    moments,
    rewound() {
      watching.rewound();
      retention.rewound();
      hosts?.rewound(log.store.events);
    },
  };
}

/** The length of a message that no event could hold. */
const loudCharacters = 300_000;

/** Calls back with what is new whenever something is. */
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

/** How many runs were requested of a trial. */
function runsOf(log: MemoryLog, trial: string): number {
  const requests = log.store
    .stream(`trial-${trial}`)
    .filter(({ type }) => type.includes(".RunRequested."));
  return requests.length;
}

function hasEnded(log: MemoryLog, experiment: string): boolean {
  // Descriptions and archiving may follow the end.
  const last = log.store
    .stream(`experiment-${experiment}`)
    .findLast(({ type }) => /\.Experiment(?:Created|Ended|Continued)\./.test(type));
  return last?.type.includes(".ExperimentEnded.") === true;
}
