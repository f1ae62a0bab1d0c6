import { getRouteApi } from "@tanstack/react-router";
import type { JSX } from "react";
import { useCall } from "../../data/calls.ts";
import styles from "./overview.module.css";
import type { Experiment } from "./tabs.ts";
import type { Trial } from "./use-trials.ts";

const route = getRouteApi("/experiments/$experiment");

type MetricName = { readonly group: string; readonly name: string };
type Metric = MetricName & { readonly names: readonly MetricName[] };

const textOf = ({ group, name }: MetricName): string => `${group} ${name}`;

function readMetric(text: string): MetricName {
  const gap = text.indexOf(" ");
  return { group: text.slice(0, gap), name: text.slice(gap + 1) };
}

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
  const searchers = { group: "validation", name: metric };
  const current = chosen?.includes(" ") === true ? readMetric(chosen) : searchers;
  const reported = answer.data?.items.filter(({ kind }) => kind === "scalar") ?? [];
  const known = new Set(reported.map(textOf));
  const missing = [searchers, current].filter((one) => !known.has(textOf(one)));
  const names = new Map([...missing, ...reported].map((one) => [textOf(one), one]));
  return { ...current, names: [...names.values()] };
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
  const others = metric.names.filter(
    ({ group, name }) => group === metric.group && name !== metric.name,
  );
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
          {[...new Set(["step", "time", x, ...others.map(({ name }) => name)])].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
    </div>
  );
}
