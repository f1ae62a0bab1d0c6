/**
 * The processor time of agent and gateway while notebooks are open and idle. Each has a client that does what a tab of
 * JupyterLab does while nobody types: the connection to its kernel, and requests at JupyterLab's intervals.
 */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { ClusterInfo } from "@trainyard/local-cluster";
import { openPage } from "../proxy/page.ts";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { IdleTab } from "./idle-tab.ts";
import { agentName, endNotebooks, notebookCluster, startNotebook } from "./notebooks.ts";

const bar = { id: "idle_cpu_percent", unit: "%", floor: null, goal: null };
const sizes = {
  tiny: { notebooks: 2, settleMs: 0, ms: 1_000 },
  short: { notebooks: 20, settleMs: 15_000, ms: 60_000 },
  full: { notebooks: 20, settleMs: 30_000, ms: 300_000 },
};
/** The number of notebooks that start at once. */
const starts = 4;
/** A tick of a process's times in /proc. */
const tickMs = 10;

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  if (!context.wants(bar.id)) return [];
  await using notebooks = await notebookCluster(context, { processes: true });
  if (notebooks === null) return [];
  const { client, info } = notebooks;
  const { notebooks: count, settleMs, ms } = sizes[context.size];
  const pids = { agent: pidOf(info, agentName), gateway: pidOf(info, "gateway") };
  const measure = async (
    forMs: number,
  ): Promise<{ readonly agent: number; readonly gateway: number }> => {
    await delay(settleMs);
    const [startMs, before] = [performance.now(), [pids.agent, pids.gateway].map(usedMs)];
    await delay(forMs);
    const [agent = 0, gateway = 0] = [pids.agent, pids.gateway].map(
      (pid, n) => (100 * (usedMs(pid) - (before[n] ?? 0))) / (performance.now() - startMs),
    );
    return { agent, gateway };
  };
  const tasks: string[] = [];
  while (tasks.length < count) {
    const some = Math.min(starts, count - tasks.length);
    // Notebooks with an idle timeout are looked at.
    const started = Array.from({ length: some }, () =>
      startNotebook(client, { idle_timeout: "8h" }),
    );
    tasks.push(...(await Promise.all(started)));
    context.say(`  ${tasks.length} of ${count} notebooks run`);
  }
  const closed = await measure(ms / 2);
  using tabs = new DisposableStack();
  for (const task of tasks) tabs.use(await IdleTab.open(await openPage(client, task)));
  const open = await measure(ms);
  tabs.dispose();
  await endNotebooks(client, tasks);
  const without = closed.agent + closed.gateway;
  const note = `aim: 2 for 20; ${count} notebooks; agent ${open.agent.toFixed(2)}, gateway ${open.gateway.toFixed(2)}; without pages ${without.toFixed(2)}`;
  return [costResult(bar, Math.max(open.agent + open.gateway, 0.01), null, note)];
}

/** The gateway of a cluster in one process is that process. */
function pidOf({ processes }: ClusterInfo, name: string): number {
  const found =
    processes.find((one) => one.name === name) ?? processes.find((one) => one.name === "trainyard");
  if (found?.pid == null) throw new Error(`${name} does not run`);
  return found.pid;
}

/** The processor time of a process without its children, in milliseconds. */
function usedMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}
