/**
 * Commands print and shells are watched while parts of the platform are killed and away. Two commands and two shells,
 * one of each on each agent, outlast all troubles; in each trouble two further commands end. Each task must have one
 * run, all its output and its exit code, and each terminal must be connected again.
 */
import { setTimeout as delay } from "node:timers/promises";
import { drawInteger } from "@trainyard/kernel";
import { eventually } from "../world/eventually.ts";
import type { World } from "../world/world.ts";
import { CountingCommand, endViolations } from "./counting-command.ts";
import { OpenExecution } from "./open-execution.ts";
import { shellCode, WatchedTerminal } from "./watched-terminal.ts";

export const partsWithTasks = [
  "gateway",
  "agent-1",
  "agent-2",
  "scheduler",
  "experiments",
  "logs",
  "nats",
  "postgres",
  "relay",
  "searcher",
  "metrics",
  "registry",
  "checkpoint-gc",
] as const;

export type Part = (typeof partsWithTasks)[number];
export type Trouble = { readonly part: Part; readonly awayMs: number };

export const agents = ["agent-1", "agent-2"] as const;
type Agent = (typeof agents)[number];
const slotsPerAgent = 4;

/** The cluster that the tasks need: dead parts are started again by the test alone. */
export const taskCluster = {
  ...{ processes: true, restart: false },
  ...{ agents: agents.length, slots: slotsPerAgent },
} as const;

const programCode = 7;
const programMs = 60_000;
const program = ["sh", "-c", `echo out; echo err >&2; exit ${programCode}`];

type Options = {
  readonly seed: number;
  readonly troubles: readonly Trouble[];
  readonly log: (line: string) => void;
};

/** The tasks on an agent that outlast all troubles. */
type Standing = {
  readonly agent: Agent;
  readonly command: CountingCommand;
  readonly terminal: WatchedTerminal;
};

/** Returns a sentence for each violation. */
export async function troubledTasks(
  world: World,
  { seed, troubles, log }: Options,
): Promise<readonly string[]> {
  const standing: Standing[] = [];
  for (const agent of agents) standing.push(await startStanding(world, agent));
  const violations: string[] = [];
  for (const [number, trouble] of troubles.entries()) {
    const { part, awayMs } = trouble;
    const what = awayMs === 0 ? `kill -9 ${part}` : `${part} away for ${awayMs / 1_000} s`;
    const startMs = performance.now();
    const found = await strike(world, standing, { trouble, seed, number });
    for (const { terminal } of standing) found.push(...terminal.violations.splice(0));
    log(`${what}: ${Math.round((performance.now() - startMs) / 1_000)} s`);
    for (const one of found) log(`violation: ${one}`);
    violations.push(...found.map((one) => `${what}: ${one}`));
  }
  for (const [n, one] of standing.entries()) violations.push(...(await endOf(world, one, n)));
  return violations;
}

/**
 * Starts a command and a shell on the agent. They could run on the other one, too, which another command occupies
 * meanwhile: a lost run that fits elsewhere is the harder case.
 */
async function startStanding(world: World, agent: Agent): Promise<Standing> {
  const [other] = agents.filter((one) => one !== agent);
  const occupied = agent === agents[0] ? slotsPerAgent : slotsPerAgent - 2;
  const occupying = await CountingCommand.start(world, `occupying-${other}`, [
    `resources.slots=${occupied}`,
    `resources.constraints.exclude_agents=[${agent}]`,
  ]);
  const command = await CountingCommand.start(world, `on-${agent}`, ["resources.slots=1"]);
  // The host's own shell may have settings of a person, which may wait.
  const settings = ["resources.slots=1", "environment.environment_variables=[SHELL=/bin/sh]"];
  const request = { kind: "shell", overrides: settings };
  const { task } = await world.client.call("createTask", request, { idempotencyKey: agent });
  await eventually("the shell runs", async () => {
    const found = await world.client.call("getTask", { task: task?.id ?? "" });
    return found.state === "RUNNING";
  });
  const terminal = new WatchedTerminal(world, task?.id ?? "");
  await terminal.start();
  occupying.end(0);
  await endViolations(world, occupying.task, "COMPLETED", 0);
  return { agent, command, terminal };
}

type Strike = { readonly trouble: Trouble; readonly seed: number; readonly number: number };

async function strike(
  world: World,
  standing: readonly Standing[],
  { trouble: { part, awayMs }, seed, number }: Strike,
): Promise<string[]> {
  const isCut = ({ agent }: Standing): boolean => part === "gateway" || part === agent;
  const ending = await startEnding(world, { part, seed, number });
  const executions: OpenExecution[] = [];
  for (const { terminal } of standing) {
    executions.push(await OpenExecution.start(world, terminal.task));
  }
  const lost = standing.map(({ terminal }) => terminal.lost);
  await world.kill(part);
  const restartMs = performance.now() + awayMs;
  for (const [n, command] of ending.entries()) {
    command.end(drawInteger(seed, `code/${number}`, n, 100));
  }
  const found: string[] = [];
  if (awayMs > 0) {
    const reachable = standing.filter((one) => !isCut(one));
    await Promise.all(reachable.map(({ terminal }) => terminal.answers()));
    // While PostgreSQL is away, open streams continue and new ones are refused.
    const executing = part === "postgres" ? [] : reachable;
    for (const one of executing) found.push(...(await executed(world, one, "meanwhile")));
    await delay(Math.max(0, restartMs - performance.now()));
  }
  await world.restart(part);
  await Promise.all(standing.map(({ terminal }) => terminal.answers()));
  for (const [n, one] of standing.entries()) {
    const execution = executions[n] as OpenExecution;
    found.push(...(await (isCut(one) ? execution.broke() : execution.end())));
    found.push(...(await executed(world, one, "afterwards")));
    const cuts = one.terminal.lost - (lost[n] ?? 0);
    if (isCut(one) ? cuts === 0 : cuts > 0) {
      found.push(`the viewer on ${one.agent} lost ${cuts} connections: ${one.terminal.lastReason}`);
    }
    found.push(...(await runningViolations(world, one)));
  }
  for (const command of ending) found.push(...(await command.violations()));
  return found;
}

/** Starts the commands that end during the trouble: one on each agent, one of them followed by the command line. */
async function startEnding(
  world: World,
  { part, seed, number }: { readonly part: Part; readonly seed: number; readonly number: number },
): Promise<readonly CountingCommand[]> {
  const drawn = agents[drawInteger(seed, "followed", number, agents.length)];
  const followed = part === "agent-1" || part === "agent-2" ? part : drawn;
  return await Promise.all(
    agents.map((agent, n) => {
      const name = `ending-${number}-${n}`;
      const others = agents.filter((one) => one !== agent);
      const overrides = [
        "resources.slots=1",
        `resources.constraints.exclude_agents=[${others.join(", ")}]`,
      ];
      return agent === followed
        ? CountingCommand.startFollowed(world, name, overrides)
        : CountingCommand.start(world, name, overrides);
    }),
  );
}

/** Executes a program with the command line, again only as long as it is not started. */
async function executed(
  world: World,
  { terminal: { task } }: Standing,
  when: string,
): Promise<readonly string[]> {
  let last = "";
  const isRun = async (): Promise<boolean> => {
    const { code, out, err } = await world.yard("task", "exec", task, "--", ...program);
    last = JSON.stringify([code, out, err]);
    return out !== "";
  };
  await eventually(`a program is executed in ${task}`, isRun, programMs).catch(() => {});
  const wanted = JSON.stringify([programCode, "out\n", "err\n"]);
  return last === wanted ? [] : [`yard task exec ${task} ${when}: ${last}, not ${wanted}`];
}

/** Checks that the tasks run in their first run, once the services have read all. */
async function runningViolations(
  world: World,
  { command, terminal }: Standing,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const id of [command.task, terminal.task]) {
    let seen = "";
    const runs = async (): Promise<boolean> => {
      const { state, reason, runs } = await world.client.call("getTask", { task: id });
      seen = `${state} with ${runs.length} runs: ${reason}`;
      return state === "RUNNING" && runs.length === 1;
    };
    await eventually(`${id} runs`, runs, programMs).catch(() => found.push(`${id} is ${seen}`));
  }
  return found;
}

async function endOf(
  world: World,
  { command, terminal }: Standing,
  code: number,
): Promise<readonly string[]> {
  command.end(code);
  const ended = await terminal.quit();
  const said =
    ended?.code === shellCode
      ? []
      : [`the viewer of ${terminal.task} saw ${JSON.stringify(ended)}`];
  return [
    ...said,
    ...terminal.violations,
    ...(await endViolations(world, terminal.task, "ERROR", shellCode)),
    ...(await command.violations()),
  ];
}
