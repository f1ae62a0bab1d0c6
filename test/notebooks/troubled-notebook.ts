/**
 * A cell counts aloud while a part of the platform is killed and away. Afterwards it counts on in the same kernel, its
 * page shows each number once, and further cells find the variables.
 */
import { setTimeout as delay } from "node:timers/promises";
import { CountingNotebook } from "./counting-notebook.ts";
import type { NotebookStage } from "./notebook-stage.ts";

export const partsOfNotebooks = ["gateway", "agent-1", "scheduler", "nats", "postgres"] as const;
type Part = (typeof partsOfNotebooks)[number];

/** Longer than every timeout: an agent is lost after 30 s. */
const awaysMs = [0, 60_000];
/** The parts that carry the connection of a page. */
const carriers: readonly Part[] = ["gateway", "agent-1"];

/** Returns a sentence for each violation. */
export async function troubledNotebook(
  stage: NotebookStage,
  parts: readonly Part[],
  log: (line: string) => void,
): Promise<readonly string[]> {
  const here = "resources.constraints.exclude_agents=[agent-2]";
  const notebook = await CountingNotebook.start(stage, [here]);
  const violations: string[] = [];
  for (const part of parts) {
    for (const awayMs of awaysMs) {
      const what = awayMs === 0 ? `kill -9 ${part}` : `${part} away for ${awayMs / 1_000} s`;
      const startMs = performance.now();
      const found = await strike(stage, notebook, { part, awayMs });
      log(`${what}: ${Math.round((performance.now() - startMs) / 1_000)} s`);
      for (const one of found) log(`violation: ${one}`);
      violations.push(...found.map((one) => `${what}: ${one}`));
      // Without its page the next trouble shows nothing new.
      if (found.length > 0) return violations;
    }
  }
  return violations;
}

async function strike(
  { world }: NotebookStage,
  notebook: CountingNotebook,
  { part, awayMs }: { readonly part: Part; readonly awayMs: number },
): Promise<readonly string[]> {
  await notebook.count();
  const pid = await world.pidOf(part);
  await notebook.nextNumber();
  process.kill(pid, "SIGKILL");
  const found: string[] = [];
  const restartMs = performance.now() + awayMs;
  if (awayMs > 0 && !carriers.includes(part)) {
    found.push(...(await notebook.shows(notebook.lastCounted + 2)));
  }
  await delay(Math.max(0, restartMs - performance.now()));
  await world.restart(part);
  found.push(...(await notebook.shows(notebook.lastCounted + 1)));
  found.push(...(await notebook.endLap()));
  const { state, runs } = await world.client.call("getTask", { task: notebook.task });
  if (state !== "RUNNING" || runs.length !== 1) {
    found.push(`${notebook.task} is ${state} with ${runs.length} runs`);
  }
  return found;
}
