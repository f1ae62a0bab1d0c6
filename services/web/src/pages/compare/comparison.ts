/** The compared trials as the page shows them: in their order, each with one look in every chart, list and table. */
import type { ReplyOf } from "@trainyard/contracts";
import { isPositionMetric } from "@trainyard/contracts/position-metrics";
import type { ShownState } from "../../components/state.ts";
import { trialState } from "../../components/state.ts";

export type Answer = ReplyOf<"compareTrials">;
export type ComparedExperiment = Answer["experiments"][number];
export type ComparedMetric = Answer["metrics"][number];

export type ComparedTrial = {
  readonly id: string;
  /** The place in the comparison, from 1: it determines hue and dash. */
  readonly look: number;
  readonly state: ShownState;
  readonly document: Answer["trials"][number];
  readonly experiment: ComparedExperiment;
};

export type Comparison = {
  readonly trials: readonly ComparedTrial[];
  readonly experiments: readonly ComparedExperiment[];
  /** The metrics with a chart, those of the most trials first. */
  readonly metrics: readonly ComparedMetric[];
  /** The metrics that are positions, as batches and epochs: possible x axes. */
  readonly positions: readonly string[];
  readonly gone: Answer["gone"];
  readonly environments: Answer["environments"];
};

export function comparisonOf(answer: Answer): Comparison {
  const experiments = new Map(answer.experiments.map((one) => [one.id, one]));
  const trials = answer.trials.flatMap((document, at): ComparedTrial[] => {
    const experiment = experiments.get(document.experiment);
    if (experiment === undefined) return [];
    return [{ id: document.id, look: at + 1, state: trialState(document), document, experiment }];
  });
  const { metrics, gone, environments } = answer;
  return {
    trials,
    experiments: answer.experiments,
    metrics: metrics.filter(({ name }) => !isPositionMetric(name)),
    positions: [...new Set(metrics.map(({ name }) => name).filter(isPositionMetric))],
    gone,
    environments,
  };
}
