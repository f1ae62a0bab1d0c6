import { getRouteApi } from "@tanstack/react-router";
import type { JSX } from "react";
import { useCall } from "../../data/calls.ts";
import {
  axesOf,
  type MetricName,
  metricsOf,
  readMetric,
  type ReportedName,
  textOf,
} from "./metric-names.ts";
import styles from "./overview.module.css";
import type { Experiment } from "./tabs.ts";
import type { Trial } from "./use-trials.ts";

const route = getRouteApi("/experiments/$experiment");

type Metric = MetricName & {
  readonly names: readonly MetricName[];
  readonly axes: readonly string[];
};

/** The scalars that a trial of the experiment has reported. */
export function useReported(
  { bestTrial }: Pick<Experiment, "bestTrial">,
  trials: readonly Trial[],
): readonly ReportedName[] {
  const trial = bestTrial ?? trials.find(({ stepsCompleted }) => stepsCompleted > 0)?.id ?? "";
  const request = { trial, pageSize: 500 };
  const answer = useCall("listTrialMetricNames", request, { enabled: trial !== "" });
  return answer.data?.items ?? none;
}

const none: readonly ReportedName[] = [];

/** The metric of the URL, or the searcher's, and the choices: the metrics that one trial has reported. */
export function useMetric(
  experiment: Experiment,
  trials: readonly Trial[],
  chosen: string | undefined,
): Metric {
  const items = useReported(experiment, trials);
  const searchers = { group: "validation", name: experiment.metric };
  const current = readMetric(chosen) ?? searchers;
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
      <AxisChoice axes={metric.axes} x={x} onX={(value) => set({ x: value })} />
    </div>
  );
}

type AxisProps = {
  readonly axes: readonly string[];
  readonly x: string;
  /** Gets undefined for step. */
  readonly onX: (x: string | undefined) => void;
};

/** The choice of the x axis. */
export function AxisChoice({ axes, x, onX }: AxisProps): JSX.Element {
  return (
    <label>
      over{" "}
      <select
        value={x}
        onChange={({ target: { value } }) => onX(value === "step" ? undefined : value)}
      >
        {[...new Set([...axes, x])].map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}
