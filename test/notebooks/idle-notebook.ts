/**
 * A notebook with a short idle_timeout, whose tab stays open while its agent is killed twice: once while a cell runs,
 * which is longer than the timeout, and once while nobody uses it.
 */
import { setTimeout as delay } from "node:timers/promises";
import { CountingNotebook } from "./counting-notebook.ts";
import type { NotebookStage } from "./notebook-stage.ts";

const timeoutS = 40;
const agent = "agent-1";
/** The time of the agent's last look, of the processes' end, and of the last save. */
const endMs = 25_000;

/** Returns a sentence for each violation. */
export async function idleNotebook(
  stage: NotebookStage,
  log: (line: string) => void,
): Promise<readonly string[]> {
  const { world } = stage;
  const notebook = await CountingNotebook.start(stage, [
    `idle_timeout=${timeoutS}`,
    "resources.constraints.exclude_agents=[agent-2]",
  ]);
  const read = () => world.client.call("getTask", { task: notebook.task });
  await notebook.count();
  const startMs = performance.now();
  await restarted(stage, 10_000);
  await delay(timeoutS * 1_000 + 5_000 - (performance.now() - startMs));
  const violations = [...(await notebook.shows(notebook.lastCounted))];
  violations.push(...(await notebook.endLap()));
  const busy = await read();
  if (busy.state !== "RUNNING") violations.push(`a busy ${notebook.task} is ${busy.state}`);
  log(`a cell ran for more than ${timeoutS} s, over a restart of its agent`);
  const usedMs = Date.now();
  await notebook.save();
  await delay(3_000);
  // A tab that connects again must not count, so the agent comes back late.
  await restarted(stage, (timeoutS - 15) * 1_000);
  await stage.untilTask(notebook.task, "PAUSED").catch((error: unknown) => {
    violations.push(String(error));
  });
  const { reason, endedAtMs = 0, runs } = await read();
  const afterMs = endedAtMs - usedMs;
  log(`it ended ${Math.round(afterMs / 1_000)} s after its last use: ${reason}`);
  if (afterMs < timeoutS * 1_000 || afterMs > timeoutS * 1_000 + endMs) {
    violations.push(`${notebook.task} ended ${afterMs} ms after its last use, not ${timeoutS} s`);
  }
  if (!reason.includes(`nobody used it for ${timeoutS} seconds`) || runs.length !== 1) {
    violations.push(`${notebook.task} ended after ${runs.length} runs: ${reason}`);
  }
  return violations;
}

async function restarted({ world }: NotebookStage, awayMs: number): Promise<void> {
  await world.kill(agent);
  await delay(awayMs);
  await world.restart(agent);
}
