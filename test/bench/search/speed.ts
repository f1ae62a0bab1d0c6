/**
 * Suggestions per second at a number of trials, by Trainyard and Optuna in turn, each on one core and without the
 * objective.
 */
import type { Bar, BenchContext, BenchResult } from "../support/bench.ts";
import { rateResult } from "../support/bench.ts";
import { interleave } from "../support/measure.ts";
import { configFor, OurStudy } from "./ours.ts";
import { type Asked, Peer, type PeerSampler } from "./peer.ts";
import type { Problem } from "./problems.ts";

export type SpeedComparison = {
  readonly ours: string;
  readonly theirs: PeerSampler;
  /** The number of trials before the first round. */
  readonly trials: number;
  /** The number of suggestions in a round. */
  readonly window: number;
  readonly rounds: number;
  readonly bar: Bar;
};

export async function compareSpeed(
  problem: Problem,
  comparison: SpeedComparison,
  python: string | undefined,
  context: BenchContext,
): Promise<BenchResult> {
  const { trials, window, rounds, bar } = comparison;
  context.say(`${bar.id}: ${trials} trials of ${problem.name} first`);
  const ours = ourRounds(problem, comparison);
  if (python === undefined) {
    const [rate] = await interleave([{ name: "ours", round: ours }], rounds, context);
    return rateResult(bar, rate, null, `at ${trials} trials, one core`);
  }
  await using peer = await Peer.start(python);
  const theirs = await peerRounds(peer, problem, comparison);
  const [theirRate, ourRate] = await interleave(
    [
      { name: `Optuna ${peer.version} ${comparison.theirs}`, round: theirs },
      { name: "ours", round: ours },
    ],
    rounds,
    context,
  );
  const note = `${problem.name}, windows of ${window} from ${trials} trials on, one core each; Optuna ${peer.version} in memory`;
  return rateResult(bar, ourRate, theirRate, note);
}

/** Runs the first trials; returns a function that runs the next round and returns its suggestions per second. */
function ourRounds(problem: Problem, comparison: SpeedComparison): () => Promise<number> {
  const { trials, window, rounds } = comparison;
  const config = configFor(problem, comparison.ours, trials + window * (rounds + 1) + 1);
  const study = new OurStudy(config, 1);
  const told = (count: number): number => {
    let took = 0;
    for (let i = 0; i < count; i += 1) {
      const value = problem.valueAt(study.point);
      const start = performance.now();
      study.tell(value);
      took += performance.now() - start;
    }
    return count / (took / 1000);
  };
  told(trials);
  return () => Promise.resolve(told(window));
}

async function peerRounds(
  peer: Peer,
  problem: Problem,
  { theirs, trials, window }: SpeedComparison,
): Promise<() => Promise<number>> {
  // The first trials use a fast sampler, since the Gaussian process would take a minute; its later cost depends on
  // their number.
  const first = theirs === "gp" ? "tpe_multivariate" : theirs;
  await peer.begin({ sampler: first, seed: 1, space: problem.space, minimize: true });
  let asked: Asked = await peer.ask();
  const told = async (count: number): Promise<number> => {
    let seconds = 0;
    for (let i = 0; i < count; i += 1) {
      asked = await peer.ask([asked.trial, problem.valueAt(asked.point)]);
      seconds += asked.seconds;
    }
    return count / seconds;
  };
  await told(trials);
  await peer.change(theirs, 1);
  return () => told(window);
}
