/** Our sequential runs, in a thread of their own. */
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

export type OurRun = {
  /** The problem's name. */
  readonly problem: string;
  /** The searcher's name in a configuration. */
  readonly searcher: string;
  readonly seed: number;
  readonly trials: number;
};

/** The best value after each trial, in the order of the runs. */
export async function ourRuns(runs: readonly OurRun[]): Promise<number[][]> {
  const worker = new Worker(join(import.meta.dirname, "our-runs-main.ts"), { workerData: runs });
  const [results] = (await once(worker, "message")) as [number[][]];
  await worker.terminate();
  return results;
}
