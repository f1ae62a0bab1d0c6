/** The content of the curves: the charts, their x axes, and the trials that keep their hue among many. */
import type { Comparison, ComparedMetric } from "./comparison.ts";
import { metricText, readMetrics } from "./url.ts";

export type ShownMetrics = {
  /** The metrics with a chart, those of the most trials first. */
  readonly shown: readonly ComparedMetric[];
  /** Metrics of the link that no compared trial has reported. */
  readonly unknown: readonly string[];
};

export function shownMetrics({ metrics }: Comparison, text: string | undefined): ShownMetrics {
  const chosen = readMetrics(text);
  if (chosen === null) return { shown: metrics, unknown: [] };
  const known = new Set(metrics.map(metricText));
  return {
    shown: metrics.filter((metric) => chosen.includes(metricText(metric))),
    unknown: chosen.filter((name) => !known.has(name)),
  };
}

/** The x axes that exist: step, time, and positions that trials have reported. */
export const xChoices = ({ positions }: Comparison): readonly string[] => [
  "step",
  "time",
  ...positions,
];

/** The best trial among those whose experiments have the same metric and direction. */
export function bestTrials({ trials }: Comparison): ReadonlySet<string> {
  const bySearch = Map.groupBy(trials, ({ experiment: { metric, smallerIsBetter } }) =>
    JSON.stringify([metric, smallerIsBetter]),
  );
  const best = [...bySearch.values()].flatMap((alike) => {
    const sign = alike[0]?.experiment.smallerIsBetter === true ? 1 : -1;
    const judged = alike.flatMap(({ id, document: { bestValue } }) =>
      bestValue === undefined || Number.isNaN(bestValue) ? [] : [{ id, value: sign * bestValue }],
    );
    const least = Math.min(...judged.map(({ value }) => value));
    return judged.find(({ value }) => value === least)?.id ?? [];
  });
  return new Set(best);
}
