/** The duration of `cluster up` on an existing cluster, memory of an idle cluster, and the start of commands. */
import { setTimeout as delay } from "node:timers/promises";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { benchCluster } from "../support/cluster.ts";
import { median } from "../support/measure.ts";
import { memoryOf } from "./memory.ts";
import { startResults } from "./start.ts";

const bootBar = { id: "boot_warm_s", unit: "s", floor: null, goal: null };
const memoryBar = { id: "idle_rss_mb", unit: "MB", floor: null, goal: null };

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const rounds = { tiny: 1, short: 5, full: 11 }[context.size];
  const idleMs = { tiny: 0, short: 5_000, full: 60_000 }[context.size];
  await using cluster = benchCluster(context);
  const up = async (name: string): Promise<number> => {
    const start = performance.now();
    await cluster.up();
    const seconds = (performance.now() - start) / 1000;
    context.say(`  ${name}: ${seconds.toFixed(2)} s`);
    return seconds;
  };
  const cold = await up("cold start");
  const warm: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    await cluster.down();
    warm.push(await up(`warm start ${round} of ${rounds}`));
  }
  await delay(idleMs);
  const { processes } = await cluster.up();
  const memory = memoryOf(processes.flatMap(({ pid }) => (pid === null ? [] : [pid])));
  return [
    costResult(
      bootBar,
      median(warm),
      null,
      `aim: under 4; the first start took ${cold.toFixed(1)} s`,
    ),
    costResult(
      memoryBar,
      memory.sharedOnceMb,
      null,
      `all processes, shared pages once (${Math.round(memory.eachMb)} with them counted in each)`,
    ),
    ...(await startResults(context)),
  ];
}
