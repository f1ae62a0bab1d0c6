/**
 * Many agents, many short runs, and agents that are killed, frozen and cut off at random: each run must end once, and
 * no slot may belong to two runs.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type AnyEvent, eventTypes } from "@trainyard/contracts";
import { idOf } from "@trainyard/kernel";
import { Chance } from "../sim/chance.ts";
import { PlacementRules } from "../sim/rules/placements.ts";
import { eventually } from "../world/eventually.ts";
import { World } from "../world/world.ts";
import { Link } from "./link.ts";
import { Rack, troubles } from "./rack.ts";

export type TroubledAgents = {
  readonly seed: number;
  readonly racks: number;
  readonly agentsPerRack: number;
  readonly runs: number;
  /** The longest that one trouble lasts; an agent is lost after 30 s. */
  readonly troubleMs: number;
  /** True for a process per service, so that many agents do not share a core. */
  readonly processes?: boolean;
  readonly log: (line: string) => void;
};

export type Outcome = { readonly violations: readonly string[]; readonly troubles: number };

const slotsOfAgent = 4;
/** The shares of runs by the number of slots that each requests; 6 slots need two agents. */
const shares = [
  { slots: 1, share: 0.6 },
  { slots: 2, share: 0.2 },
  { slots: 6, share: 0.1 },
  { slots: 0, share: 0.1 },
] as const;
/** The last of two thousand runs on two busy cores, with agents in trouble, takes more than an hour. */
const endsWithinMs = 7_200_000;
export const mark = "trainyard-troubled-run";

export async function troubledAgents(options: TroubledAgents): Promise<Outcome> {
  const { racks: rackCount, agentsPerRack, processes = false, log } = options;
  await using world = await World.start({
    processes,
    agents: rackCount * agentsPerRack,
    slots: slotsOfAgent,
    restart: false,
  });
  await using stack = new AsyncDisposableStack();
  const racks = await inRacks(world, options, stack);
  log(`${rackCount} processes with ${agentsPerRack} agents each`);
  const experiments = await submit(world, options.runs);
  let over = false;
  const told = progress(log);
  const watching = eventually(
    "all experiments are over",
    () => areOver(world, experiments, told),
    endsWithinMs,
  );
  // Runs that do not end are named below, and the log shows the details.
  const watched = watching.catch(() => {}).finally(() => (over = true));
  const troubled = racks.map((rack, n) => trouble(rack, n, options, () => over));
  const [, ...counts] = await Promise.all([watched, ...troubled]);
  const violations = [
    ...(await endViolations(world, experiments)),
    ...(await logViolations(world)),
  ];
  await stack.disposeAsync();
  return {
    violations: [...violations, ...orphans(world)],
    troubles: counts.reduce((sum, count) => sum + count, 0),
  };
}

/** Takes the agents from the cluster's supervisor, and starts them again in racks, each behind its own link. */
export async function inRacks(
  world: World,
  { racks: rackCount, agentsPerRack }: Pick<TroubledAgents, "racks" | "agentsPerRack">,
  stack: AsyncDisposableStack,
): Promise<readonly Rack[]> {
  const names = (await world.processes())
    .map(({ name }) => name)
    .filter((name) => name.startsWith("agent-"));
  for (const name of names) await world.kill(name);
  const racks: Rack[] = [];
  for (let n = 0; n < rackCount; n += 1) {
    const mine = names.slice(n * agentsPerRack, (n + 1) * agentsPerRack);
    const links: Link[] = [];
    const files: string[] = [];
    for (const name of mine) {
      const text = readFileSync(join(world.home, "run", "environment", `${name}.env`), "utf8");
      const natsPort = Number(/^TRAINYARD_NATS_URL=.*:(\d+)$/m.exec(text)?.[1]);
      const link = await Link.to(natsPort);
      links.push(link);
      const through = text.replace(/^TRAINYARD_NATS_URL=.*$/m, `TRAINYARD_NATS_URL=${link.url}`);
      files.push(join(world.folder, world.write(`${name}.env`, through)));
    }
    const rack = stack.use(new Rack(files, links, join(world.folder, `rack-${n}.log`)));
    await rack.start();
    racks.push(rack);
  }
  return racks;
}

async function submit(world: World, runs: number): Promise<readonly string[]> {
  const experiments: string[] = [];
  world.write("nothing/nothing.txt", "");
  for (const { slots, share } of shares) {
    const trials = Math.max(1, Math.round(runs * share));
    const config = `
name: ${slots}-slots
entrypoint: ["sh", "-c", ": ${mark}; sleep 1"]
hyperparameters: { x: { type: double, minval: 0, maxval: 1 } }
searcher: { name: random, metric: loss, max_trials: ${trials}, max_concurrent_trials: ${trials} }
resources: { slots_per_trial: ${slots} }
`;
    experiments.push(await world.submit(config, "nothing"));
  }
  return experiments;
}

async function areOver(
  world: World,
  experiments: readonly string[],
  tell: (completed: number) => void,
): Promise<boolean> {
  let isOver = true;
  let completed = 0;
  for (const experiment of experiments) {
    const found = await world.client.call("getExperiment", { experiment });
    isOver &&= ["COMPLETED", "CANCELED", "ERROR"].includes(found.state);
    completed += found.trialsCompleted;
  }
  tell(completed);
  return isOver;
}

/** Logs every hundredth run. */
function progress(log: TroubledAgents["log"]): (completed: number) => void {
  let told = 0;
  return (completed) => {
    if (completed < told + 100) return;
    told = completed;
    log(`${completed} runs have completed`);
  };
}

/** Applies one trouble after another, with a pause in which the agents work; returns their number. */
async function trouble(
  rack: Rack,
  n: number,
  { seed, troubleMs, log }: TroubledAgents,
  isOver: () => boolean,
): Promise<number> {
  const chance = new Chance(seed, `rack ${n}`);
  for (let count = 0; ; count += 1) {
    const pauseMs = chance.between(500, troubleMs);
    for (let waited = 0; waited < pauseMs && !isOver(); waited += 250) await delay(250);
    if (isOver()) return count;
    const what = chance.pick(troubles);
    const forMs = chance.between(0, troubleMs);
    log(`rack ${n}: ${what} for ${forMs} ms`);
    await rack.suffer(what, forMs);
  }
}

export async function endViolations(
  world: World,
  experiments: readonly string[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const experiment of experiments) {
    const { state, reason } = await world.client.call("getExperiment", { experiment });
    if (state !== "COMPLETED") found.push(`experiment ${experiment} is ${state}: ${reason}`);
  }
  const verified = await world.yard("log", "verify");
  if (verified.code !== 0) found.push(`log verify: ${verified.out}${verified.err}`);
  const { items } = await world.client.call("listParked", {});
  return [
    ...found,
    ...items.map(({ consumer, key, reason }) => `parked: ${consumer} ${key} ${reason}`),
  ];
}

/** Checks that each run ends once, and that no slot is in two allocations, at any position of the log. */
export async function logViolations(world: World): Promise<readonly string[]> {
  const found: string[] = [];
  const placements = new PlacementRules();
  const known = new Map(eventTypes.map(({ type }) => [type, type.split(".").at(-2) ?? ""]));
  const ends = new Map<string, number>();
  for await (const { message } of world.client.stream("watchEvents", { noFollow: true })) {
    const { type, subject, data, sequence } = message;
    const event = { type: known.get(type) ?? "", data: data ?? {} } as unknown as AnyEvent;
    placements.see(idOf(subject), withLists(event), (what) =>
      found.push(`${sequence} ${subject}: ${what}`),
    );
    if (event.type === "AllocationQueued") ends.set(subject, 0);
    if (event.type === "AllocationEnded") ends.set(subject, (ends.get(subject) ?? 0) + 1);
  }
  for (const [allocation, count] of ends)
    if (count !== 1) found.push(`${allocation} ended ${count} times`);
  return found;
}

/** Adds empty lists, which a stored body omits. */
function withLists(event: AnyEvent): AnyEvent {
  const lists = (values: object, ...names: readonly string[]) =>
    ({ ...Object.fromEntries(names.map((name) => [name, []])), ...values }) as never;
  switch (event.type) {
    case "AllocationGranted": {
      const data = lists(event.data, "placements") as typeof event.data;
      return {
        ...event,
        data: { ...data, placements: data.placements.map((one) => lists(one, "slots")) },
      };
    }
    case "SlotsCleared":
      return { ...event, data: lists(event.data, "slots") };
    case "AgentReturned": {
      const data = lists(event.data, "occupations") as typeof event.data;
      return {
        ...event,
        data: { ...data, occupations: data.occupations.map((one) => lists(one, "slots")) },
      };
    }
    default:
      return event;
  }
}

/** The processes of runs that are left when all agents have ended. */
export function orphans(world: World): readonly string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const command = readFileSync(join("/proc", pid, "cmdline"), "utf8");
      const environment = readFileSync(join("/proc", pid, "environ"), "utf8");
      if (!command.includes(mark) || !environment.includes(world.home)) return [];
      return [`process ${pid} is left: ${command.replaceAll("\0", " ")}`];
    } catch {
      // The process has ended meanwhile.
      return [];
    }
  });
}
