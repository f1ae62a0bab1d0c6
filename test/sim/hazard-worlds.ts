/**
 * Worlds with the real scheduler, a reliable bus and no deaths, so that a violation is caused by their only hazard. The
 * other worlds mix hazards.
 */
import { decodeEvent } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import type { MemoryLog } from "@trainyard/event-log/testing";
import { Chance } from "./chance.ts";
import { drawRestores } from "./hardships.ts";
import { agentNames } from "./model-hosts.ts";
import { eventsOf, violationsOf } from "./invariants.ts";
import { relayViolations } from "./judge.ts";
import type { Refusals } from "./refusals.ts";
import { deadlineViolations } from "./rules/deadlines.ts";
import { configOf, random, type Submission } from "./submissions.ts";
import { type Hazards, runWorld, type World } from "./world.ts";

export type HazardWorld = {
  readonly name: string;
  readonly draw: (seed: number) => Hazards;
  readonly check?: (world: World) => readonly string[];
  readonly submissions?: readonly Submission[];
  /** Whether users run tasks beside these submissions. */
  readonly tasks?: boolean;
  /** Whether an agent is lost that returns. */
  readonly mayLose?: boolean;
};

/** The limit of a world, which takes some minutes. */
const stuckAfterMs = 40 * 60_000;
/** Longer than five experiments of three trials take, and longer than a refused decision is set aside. */
const mendedMs = 150_000;
/** The refused trials: this many failures stop a loop that blames itself for each. */
const refused = ["1", "2", "3"];
const submissions = Array.from({ length: refused.length + 2 }, (_, n) => ({
  config: configOf(random(3, 3), 1),
  seed: n + 1,
}));

function ofRefusals(name: string, what: Refusals["what"], agent = ""): HazardWorld {
  const refusals = { what, experiments: refused, agent, untilMs: mendedMs };
  return { name, draw: () => ({ refusals }), check: (world) => bystanders(world), submissions };
}

/** Checks that a refusal, or an error, ends no term, and delays no other experiment. */
function bystanders(
  { log, experiments, moments }: World,
  held: readonly string[] = refused,
): readonly string[] {
  const terms = [...log.store.leases].filter(([, { epoch }]) => epoch !== 1);
  const late = experiments.filter((id) => {
    const last = log.store.stream(`experiment-${id}`).at(-1);
    return !held.includes(id) && (moments.get(last?.id ?? "") ?? mendedMs) >= mendedMs;
  });
  return [
    ...terms.map(([lease, { epoch }]) => `the lease ${lease} is in term ${epoch}`),
    ...late.map((id) => `experiment ${id} was held up`),
  ];
}

/** Checks that the host is distrusted, and that no trial ends because of it. */
function brokenHost({ log }: World): readonly string[] {
  const distrusted = new Set<string>();
  const failed: string[] = [];
  for (const stored of log.store.events) {
    const event = decodeEvent(stored);
    if (event.type === "AgentDistrusted") distrusted.add(stored.stream);
    if (event.type !== "TrialEnded" || event.data.outcome === TrialOutcome.COMPLETED) continue;
    failed.push(`${stored.stream} has failed: ${event.data.reason}`);
  }
  const found = [...distrusted].join(", ");
  return [...failed, ...(found === "agent-a2" ? [] : [`distrusted are: ${found}`])];
}

/** Adds a time limit, which ends runs after some checkpoints or before the first. */
function limited(config: Submission["config"]): Submission["config"] {
  const resources = { ...config.resources, time_limit: 10 };
  return { ...config, resources, preemption_timeout: 30 };
}

const silent = { afterMs: 8_000, forMs: 37_000 };

/** Checks that no run was repeated. */
function startedOnce({ log }: World): readonly string[] {
  const runs = new Map<string, number>();
  for (const { stream, type } of log.store.events) {
    if (type.includes(".RunRequested.")) runs.set(stream, (runs.get(stream) ?? 0) + 1);
  }
  return [...runs].flatMap(([trial, count]) =>
    count === 1 ? [] : [`${trial} was started ${count} times`],
  );
}

export const hazardWorlds: readonly HazardWorld[] = [
  {
    name: "users who drain, disable and remove agents, and change the pool and experiments",
    draw: () => ({ operatorsUntilMs: 60_000 }),
    submissions: Array.from({ length: 6 }, (_, n) => ({
      config: limited(configOf(random(8, 3), 3)),
      seed: n + 1,
    })),
    tasks: true,
  },
  {
    name: "a log that goes back",
    draw: (seed) => ({ restores: drawRestores(new Chance(seed, "hazards")) }),
  },
  {
    name: "a host on which every run fails",
    draw: () => ({ brokenHost: "a2" }),
    check: brokenHost,
    submissions: [{ config: configOf(random(24, 24), 2), seed: 1 }],
  },
  {
    name: "all agents silent for longer than one may be",
    draw: () => ({ silence: { ...silent, agents: agentNames, deaths: false } }),
    check: startedOnce,
    submissions: [{ config: configOf(random(6, 6), 2), seed: 1 }],
  },
  {
    name: "all agents silent for longer than one may be, over deaths of the services",
    draw: () => ({ silence: { ...silent, forMs: 90_000, agents: agentNames, deaths: true } }),
    check: startedOnce,
    submissions: [{ config: configOf(random(6, 6), 2), seed: 1 }],
  },
  {
    name: "an agent that is lost while no other place is free, and returns",
    draw: () => ({ silence: { ...silent, agents: ["a2"], deaths: false } }),
    check: startedOnce,
    mayLose: true,
    submissions: [{ config: configOf(random(6, 6), 2), seed: 1 }],
  },
  { name: "hosts with wrong clocks", draw: () => ({ wrongClocks: "hosts" }) },
  { name: "hosts and a log with wrong clocks", draw: () => ({ wrongClocks: "all" }) },
  ofRefusals("searches whose events are refused", "search"),
  ofRefusals("trials whose events are refused", "trial"),
  ofRefusals("runs that are refused a place in the queue", "allocation"),
  ofRefusals(
    "runs that are refused their slots, and an agent that is refused its joining",
    "place",
    "a3",
  ),
  {
    name: "runs whose launch throws",
    draw: () => ({ throwing: { experiments: ["1"], untilMs: mendedMs } }),
    check: (world) => bystanders(world, ["1"]),
    submissions,
  },
];

/** Runs the world of a seed, and returns its violations. */
export async function judgeHazardWorld(
  { draw, check, mayLose = false, ...rest }: HazardWorld,
  seed: number,
): Promise<readonly string[]> {
  const hazards = draw(seed);
  const world = await runWorld({
    seed,
    calm: true,
    fickle: rest.submissions === undefined,
    scheduler: true,
    hazards,
    stuckAfterMs,
    ...rest,
  });
  const { log, moments, ended, virtualMs } = world;
  const isOneTerm = hazards.wrongClocks !== "all" && hazards.restores === undefined;
  return [
    ...(ended ? [] : [`still running after ${virtualMs / 3_600_000} hours of virtual time`]),
    ...(await violationsOf(log)),
    ...deadlineViolations(log.store.events, moments, isOneTerm),
    ...relayViolations(world),
    ...(mayLose ? [] : lostAgents(log)),
    ...(check?.(world) ?? []),
  ];
}

function lostAgents({ store }: MemoryLog): readonly string[] {
  const lost = eventsOf(store.events).filter(({ type }) => type === "AgentLost");
  return lost.length === 0 ? [] : [`${lost.length} times an agent was lost that was there`];
}
