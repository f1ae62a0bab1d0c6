/** The simulation at full size: many worlds, and every hazard with a trouble at every append. */
import { judgeHistories } from "@trainyard/service-checkpoint-gc/judge-histories";
import { judgeRemovals } from "@trainyard/service-gateway/judge-removals";
import { judgeDeletions as judgeLines } from "@trainyard/service-logs/judge-deletions";
import { judgeDeletions as judgePoints } from "@trainyard/service-metrics/judge-deletions";
import { type Campaign, wholeAndParts } from "../../scripts/lib/campaigns.ts";
import { allHazards } from "./all-hazards.ts";
import { Chance } from "./chance.ts";
import { hazardWorlds, judgeHazardWorld } from "./hazard-worlds.ts";
import type { Hazard } from "./hazard.ts";
import { lifeHazards } from "./life-hazards.ts";
import { judge } from "./judge.ts";
import { judgeHoldWorld } from "./hold-world.ts";
import { judgeStorageWorld } from "./storage-world.ts";
import { sweep } from "./sweep.ts";

/** The number of worlds of each kind: with the modelled and with the real scheduler. */
const worlds = 150;
/** The number of worlds of each hazard, without other troubles. */
const worldsOfHazard = 25;
const storageWorlds = 100;
const holdWorlds = 1_000;
const progressEvery = 25;
/** The number of places of a hazard's script where a trouble strikes: all, except for scripts that take seconds. */
const strikes = 400;
const strikesOfLong = 12;

const parts = [
  {
    name: "sim-sweeps",
    description: "of sim: every hazard, with a trouble at every append",
    run: sweepAll,
  },
  {
    name: "sim-hazard-worlds",
    description: "of sim: worlds that one hazard befalls, in which nothing else is wrong",
    run: visitHazardWorlds,
  },
  {
    name: "sim-worlds",
    description: "of sim: worlds with all hazards, with the modelled and with the real scheduler",
    run: visitWorlds,
  },
  {
    name: "sim-storage-worlds",
    description: "of sim: storages that hosts see differently",
    run: visitStorageWorlds,
  },
  {
    name: "sim-hold-worlds",
    description: "of sim: a registry whose log goes back, and the hold on deletions",
    run: visitHoldWorlds,
  },
] as const satisfies readonly Campaign[];

/** The whole campaign takes almost an hour. */
const whole = wholeAndParts(
  "sim",
  "experiments, searcher and scheduler in virtual time: crashes, stops, a bus that loses and doubles, a log that goes back or refuses, wrong clocks, storages that hosts see differently",
  parts,
);

export const campaigns: readonly Campaign[] = [
  ...whole,
  {
    name: "life",
    description:
      "each verb of experiments and trials, and what a deletion removes, with each service killed at its commits",
    run: visitLives,
  },
];

/** The number of histories of each kind. */
const historiesOfLives = 1_000;

type Options = Parameters<Campaign["run"]>[0];
type Result = Awaited<ReturnType<Campaign["run"]>>;

/** Logs violations at once, so that a campaign that is ended early has reported them. */
function note(all: string[], found: readonly string[], log: Options["log"]): void {
  all.push(...found);
  for (const what of found) log(`violation: ${what}`);
}

/**
 * `checkpoint-gc` and the gateway delete data of experiments: each dies at random commits of random histories.
 * `metrics` and `logs` die at each of their commits, with a real PostgreSQL.
 */
async function visitLives(options: Options): Promise<Result> {
  const { violations, summary } = await sweepEach(lifeHazards, options);
  const all = [...violations];
  const { seed, log } = options;
  const checkpoints = await judgeHistories(historiesOfLives, seed);
  const contents = await judgeRemovals(historiesOfLives, seed);
  note(
    all,
    [checkpoints.violation, contents].flatMap((one) => one ?? []),
    log,
  );
  const drawn = `${historiesOfLives} histories of checkpoints and of stored code each`;
  log(`${drawn}, ${all.length - violations.length} violations`);
  let died = "";
  for (const [service, judgeService] of [
    ["metrics", judgePoints],
    ["logs", judgeLines],
  ] as const) {
    const { lives, violations: found } = await judgeService();
    note(
      all,
      found.map((what) => `${service}: ${what}`),
      log,
    );
    const told = `${lives} lives of an experiment in ${service}`;
    log(`${told}, ${found.length} violations`);
    died += `; ${told}`;
  }
  return { violations: all, summary: `${summary}; ${drawn}${died}` };
}

function sweepAll(options: Options): Promise<Result> {
  return sweepEach(allHazards, options);
}

async function sweepEach(hazards: readonly Hazard[], { seed, log }: Options): Promise<Result> {
  const violations: string[] = [];
  let runs = 0;
  for (const hazard of hazards) {
    for (const fanOuts of ["in_reactions", "beside"] as const) {
      const most = hazard.long === true ? strikesOfLong : strikes;
      const swept = await sweep(hazard, most, seed, fanOuts);
      runs += swept.runs;
      const found = swept.violations.map((what) => `${hazard.name}, ${fanOuts}: ${what}`);
      note(violations, found, log);
      log(`${hazard.name}, ${fanOuts}: ${swept.runs} times, ${swept.violations.length} violations`);
    }
  }
  return { violations, summary: `${hazards.length} hazards played ${runs} times` };
}

async function visitHazardWorlds({ seed, log }: Options): Promise<Result> {
  const violations: string[] = [];
  for (const world of hazardWorlds) {
    const seeds = new Chance(seed, world.name);
    for (let n = 1; n <= worldsOfHazard; n += 1) {
      const worldSeed = n === 1 ? seed : seeds.between(0, 2 ** 31);
      const found = await judgeHazardWorld(world, worldSeed);
      note(
        violations,
        found.map((what) => `${world.name}, world ${worldSeed}: ${what}`),
        log,
      );
    }
    log(`${world.name}: ${worldsOfHazard} worlds, ${violations.length} violations so far`);
  }
  const visited = hazardWorlds.length * worldsOfHazard;
  return { violations, summary: `${visited} worlds with one hazard each` };
}

async function visitStorageWorlds({ seed, log }: Options): Promise<Result> {
  const violations: string[] = [];
  const seeds = new Chance(seed, "storages");
  for (let n = 1; n <= storageWorlds; n += 1) {
    const worldSeed = n === 1 ? seed : seeds.between(0, 2 ** 31);
    const found = await judgeStorageWorld(worldSeed);
    note(
      violations,
      found.map((what) => `storage world ${worldSeed}: ${what}`),
      log,
    );
  }
  log(`${storageWorlds} storage worlds, ${violations.length} violations`);
  return { violations, summary: `${storageWorlds} storage worlds` };
}

async function visitHoldWorlds({ seed, log }: Options): Promise<Result> {
  const violations: string[] = [];
  const seeds = new Chance(seed, "holds");
  for (let n = 1; n <= holdWorlds; n += 1) {
    const worldSeed = n === 1 ? seed : seeds.between(0, 2 ** 31);
    const found = await judgeHoldWorld(worldSeed);
    note(
      violations,
      found.map((what) => `hold world ${worldSeed}: ${what}`),
      log,
    );
  }
  return { violations, summary: `${holdWorlds} hold worlds` };
}

async function visitWorlds({ seed, log }: Options): Promise<Result> {
  const violations: string[] = [];
  const seeds = new Chance(seed, "campaign");
  const totals = { deaths: 0, events: 0, hours: 0 };
  for (let n = 1; n <= worlds; n += 1) {
    const worldSeed = n === 1 ? seed : seeds.between(0, 2 ** 31);
    for (const scheduler of [false, true]) {
      const { violations: found, world } = await judge(worldSeed, scheduler);
      const which = `world ${worldSeed}${scheduler ? " with the scheduler" : ""}`;
      note(
        violations,
        found.map((what) => `${which}: ${what}`),
        log,
      );
      totals.deaths += world.deaths;
      totals.events += world.log.store.events.length;
      totals.hours += world.virtualMs / 3_600_000;
    }
    if (n % progressEvery === 0) log(`${n} of ${worlds} worlds, ${violations.length} violations`);
  }
  const { deaths, events, hours } = totals;
  const summary = `${2 * worlds} worlds, ${Math.round(hours)} hours of virtual time, ${events} events, ${deaths} deaths`;
  return { violations, summary };
}
