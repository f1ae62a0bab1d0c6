/** A notebook that is paused while parts of the platform are away, and resumed on the other agent with equal files. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CountingCommand, endViolations } from "../tasks/counting-command.ts";
import type { NotebookStage } from "./notebook-stage.ts";

const program = readFileSync(join(import.meta.dirname, "programs", "tree.py"), "utf8");
const awayMs = 20_000;
/** The parts that are away, one after the other, and the agents between which the notebook moves meanwhile. */
const moves = [
  { part: "scheduler", from: "agent-1", to: "agent-2" },
  { part: "agent-2", from: "agent-2", to: "agent-1" },
] as const;

/** Returns a sentence for each violation. */
export async function movedNotebook(
  stage: NotebookStage,
  { seed, log }: { readonly seed: number; readonly log: (line: string) => void },
): Promise<readonly string[]> {
  const { world } = stage;
  world.write("notebook/readme.txt", "a folder to start in\n");
  const first = await occupied(stage, "agent-2", 0);
  const task = await stage.notebook("notebook", []);
  await ended(stage, first);
  const violations: string[] = [];
  for (const [n, { part, from, to }] of moves.entries()) {
    const before = await executed(stage, task, ["make", String(seed + n)]);
    await world.kill(part);
    await world.client.call("pauseTask", { task });
    await delay(awayMs);
    await world.restart(part);
    await stage.untilTask(task, "PAUSED");
    const occupying = await occupied(stage, from, n + 1);
    await world.client.call("resumeTask", { task });
    await stage.untilTask(task, "RUNNING");
    await ended(stage, occupying);
    const { runs, unsaved } = await world.client.call("getTask", { task });
    const agent = runs.at(-1)?.placements[0]?.agent ?? "";
    log(`paused while ${part} was away for ${awayMs / 1_000} s, resumed on ${agent}`);
    if (agent !== to) violations.push(`${task} was resumed on ${agent}, not on ${to}`);
    if (unsaved !== "") violations.push(`${task} is not saved: ${unsaved}`);
    violations.push(...differences(before, await executed(stage, task, ["show"])));
  }
  return violations;
}

/** A command that has all slots of an agent. */
async function occupied(
  { world }: NotebookStage,
  agent: string,
  n: number,
): Promise<CountingCommand> {
  const other = agent === "agent-1" ? "agent-2" : "agent-1";
  return await CountingCommand.start(world, `occupying-${n}`, [
    "resources.slots=4",
    `resources.constraints.exclude_agents=[${other}]`,
  ]);
}

async function ended({ world }: NotebookStage, command: CountingCommand): Promise<void> {
  command.end(0);
  await endViolations(world, command.task, "COMPLETED", 0);
}

/** Runs the program in the notebook's folder; returns a line for each file. */
async function executed(
  { world }: NotebookStage,
  task: string,
  words: readonly string[],
): Promise<readonly string[]> {
  const said = await world.yard("task", "exec", task, "--", "python3", "-c", program, ...words);
  if (said.code !== 0) throw new Error(`yard task exec ${task}: ${said.code} ${said.err}`);
  return said.out.split("\n").slice(0, -1);
}

function differences(before: readonly string[], after: readonly string[]): readonly string[] {
  const lost = before.filter((line) => !after.includes(line));
  const more = after.filter((line) => !before.includes(line));
  if (before.length === 0) return ["no files were made"];
  return [...lost.map((line) => `lost: ${line}`), ...more.map((line) => `not made: ${line}`)];
}
