/**
 * The processor time of one beat of the scheduler in which every agent reports, nothing has changed, and each agent
 * gets its list.
 */
import { BeatingCluster } from "@trainyard/service-scheduler/testing";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { median } from "../support/measure.ts";
import { slotsPerAgent } from "./workload.ts";

const note =
  "reports decoded, all that may follow looked for, lists encoded; each agent has a run; without the bus";

export function beats({ size, say }: BenchContext, scale: number): readonly BenchResult[] {
  const count = { tiny: 2, short: 5, full: 20 }[size];
  return [100, 1_000, 10_000].map((agents) => {
    say(`a beat to ${agents} agents`);
    const cluster = new BeatingCluster(agents / scale, slotsPerAgent);
    // The first two beats are not counted: they process all agents and runs of the fold, and then the versions of the
    // lists.
    for (let beat = 0; beat < 2; beat += 1) cluster.beat(cluster.nextReports());
    const taken = Array.from({ length: count }, () => {
      const reports = cluster.nextReports();
      const before = process.cpuUsage();
      cluster.beat(reports);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    });
    const bar = { id: `beat_cpu_${agents}`, unit: "ms", floor: null, goal: null };
    return costResult(bar, median(taken), null, note);
  });
}
