/**
 * Applies an experiment's checkpoint policy to 100,000 checkpoints and to 10,000. The experiment's end, each pass
 * during the experiment and the preview share this rule. Its cost is n log n and must not become n², whether one trial
 * has all checkpoints or many trials share them. It is measured in processor time of this process, which does all the
 * work.
 */
import {
  type Candidate,
  condemned,
  type Policy,
} from "@trainyard/service-checkpoint-gc/retention-rule";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";
import { interleave } from "../support/measure.ts";

const flatness = { id: "gc_100k_flatness", unit: "checkpoints/s", floor: 0.5, goal: 0.8 };
const policy: Policy = { saveExperimentBest: 3, saveTrialBest: 1, saveTrialLatest: 1 };

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  if (!context.wants(flatness.id)) return [];
  const many = context.size === "tiny" ? 1_000 : 100_000;
  const few = many / 10;
  const rounds = { tiny: 1, short: 5, full: 15 }[context.size];
  const large = [checkpointsOf(many, 1), checkpointsOf(many, many / 10)];
  const small = [checkpointsOf(few, 1), checkpointsOf(few, few / 10)];
  const [ours, baseline] = await interleave(
    [
      { name: `${many} checkpoints`, round: async () => judgedPerSecond(large, 1) },
      { name: `${few} checkpoints`, round: async () => judgedPerSecond(small, 10) },
    ],
    rounds,
    context,
  );
  return [
    rateResult(
      flatness,
      ours,
      baseline,
      `${many} beside ${few}; one trial, and ten checkpoints a trial`,
    ),
  ];
}

/** Values in no order, so that no ranking is sorted beforehand; one checkpoint in ten has no validation. */
function checkpointsOf(count: number, trials: number): readonly Candidate[] {
  return Array.from({ length: count }, (_, at) => ({
    checkpoint: `c${at}`,
    trial: `1.${at % trials}`,
    run: 1,
    step: Math.floor(at / trials),
    value: at % 10 === 0 ? null : ((at * 7_919) % count) / count,
  }));
}

function judgedPerSecond(sets: readonly (readonly Candidate[])[], repeats: number): number {
  const before = process.cpuUsage();
  let judged = 0;
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    for (const candidates of sets) {
      const given = condemned(candidates, policy, true);
      if (given.size === 0) throw new Error("the policy deleted no checkpoint");
      judged += candidates.length;
    }
  }
  const { user, system } = process.cpuUsage(before);
  return judged / ((user + system) / 1e6);
}
