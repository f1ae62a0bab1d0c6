/** Runs Trainyard's sequential searches in a separate thread. */
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

/** Returns the best values after each trial, in the order of the runs. */
export async function ourRuns(runs: readonly OurRun[]): Promise<number[][]> {
  const worker = new Worker(join(import.meta.dirname, "our-runs-main.ts"), { workerData: runs });
  const [results] = (await once(worker, "message")) as [number[][]];
  await worker.terminate();
  return results;
}
