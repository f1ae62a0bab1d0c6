/** A comparison for tests: trials of experiments, with only the fields that the tests give. */
import { type Answer, type Comparison, comparisonOf } from "../comparison.ts";

type TrialFields = Partial<Answer["trials"][number]> & { readonly id: string };
type ExperimentFields = Partial<Answer["experiments"][number]> & { readonly id: string };

export function exampleComparison(
  trials: readonly TrialFields[],
  experiments: readonly ExperimentFields[] = [{ id: "12" }],
  more: Partial<Answer> = {},
): Comparison {
  return comparisonOf({
    trials: trials.map((trial) => ({
      experiment: trial.id.split(".")[0],
      state: "COMPLETED",
      runs: [],
      latestValidation: {},
      bestValidation: {},
      ...trial,
    })),
    experiments: experiments.map((experiment) => ({
      name: `name ${experiment.id}`,
      labels: [],
      searcher: "random",
      metric: "loss",
      smallerIsBetter: true,
      workspace: "w",
      project: "p",
      owner: "ada",
      ...experiment,
    })),
    metrics: [],
    gone: [],
    environments: [],
    ...more,
  } as unknown as Answer);
}
