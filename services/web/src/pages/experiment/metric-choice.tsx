import { getRouteApi } from "@tanstack/react-router";
import { type JSX, useMemo } from "react";
import { useCall } from "../../data/calls.ts";
import { axesOf, type MetricName, metricsOf, readMetric, textOf } from "./metric-names.ts";
import styles from "./overview.module.css";
import type { Experiment } from "./tabs.ts";
import type { Trial } from "./use-trials.ts";

const route = getRouteApi("/experiments/$experiment");

type Metric = MetricName & {
  readonly names: readonly MetricName[];
  readonly axes: readonly string[];
};

/** The metric of the URL, or the searcher's, and the choices: the metrics that one trial has reported. */
export function useMetric(
  { bestTrial, metric }: Experiment,
  trials: readonly Trial[],
  chosen: string | undefined,
): Metric {
  const trial = bestTrial ?? trials.find(({ stepsCompleted }) => stepsCompleted > 0)?.id ?? "";
  const answer = useCall(
    "listTrialMetricNames",
    { trial, pageSize: 500 },
    { enabled: trial !== "" },
  );
  const searchers = useMemo(() => ({ group: "validation", name: metric }), [metric]);
  const current = readMetric(chosen) ?? searchers;
  const items = answer.data?.items ?? [];
  return {
    ...current,
    names: metricsOf(items, [searchers, current]),
    axes: axesOf(items, current),
  };
}

/** The choice of the metric and of the x axis. */
export function MetricChoice({
  metric,
  x,
}: {
  readonly metric: Metric;
  readonly x: string;
}): JSX.Element {
  const navigate = route.useNavigate();
  const set = (change: { metric?: string; x?: string | undefined }): void =>
    void navigate({ search: (now) => ({ ...now, zoom: undefined, ...change }), replace: true });
  return (
    <div className={styles["choices"]}>
      <label>
        Metric{" "}
        <select value={textOf(metric)} onChange={({ target }) => set({ metric: target.value, x })}>
          {metric.names.map((one) => (
            <option key={textOf(one)} value={textOf(one)}>
              {one.name} ({one.group})
            </option>
          ))}
        </select>
      </label>
      <label>
        over{" "}
        <select
          value={x}
          onChange={({ target: { value } }) => set({ x: value === "step" ? undefined : value })}
        >
          {[...new Set([...metric.axes, x])].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
    </div>
  );
}
