/** Runs Optuna's sequential studies, over as many processes as cores. */
import { availableParallelism } from "node:os";
import { Peer, type PeerSampler } from "./peer.ts";
import type { Problem } from "./problems.ts";

export type PeerRun = {
  readonly problem: Problem;
  readonly sampler: PeerSampler;
  readonly seed: number;
  readonly trials: number;
};

/** Returns the best value after each trial. */
export async function peerIncumbents(peer: Peer, run: PeerRun): Promise<number[]> {
  const { problem, sampler, seed, trials } = run;
  await peer.begin({ sampler, seed, space: problem.space, minimize: true });
  const values: number[] = [];
  let best = Infinity;
  let asked = await peer.ask();
  for (let done = 1; ; done += 1) {
    const value = problem.valueAt(asked.point);
    // NaN marks a failed trial.
    if (value < best) best = value;
    values.push(best);
    if (done === trials) return values;
    asked = await peer.ask([asked.trial, value]);
  }
}

/** Returns the incumbents of every run, in the order of the runs. */
export async function peerRuns(
  python: string,
  runs: readonly PeerRun[],
  say: (line: string) => void,
): Promise<number[][]> {
  const results: number[][] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    await using peer = await Peer.start(python);
    for (let index = next++; index < runs.length; index = next++) {
      const run = runs[index];
      if (run === undefined) return;
      results[index] = await peerIncumbents(peer, run);
      if ((index + 1) % 20 === 0) say(`  Optuna: ${index + 1} of ${runs.length} runs`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), runs.length) }, work));
  return results;
}
