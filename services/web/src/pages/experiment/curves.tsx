import { getRouteApi } from "@tanstack/react-router";
import { type JSX, useMemo, useState } from "react";
import type { TrialTick } from "../../components/chart/chart.tsx";
import { chartTrialOf, trialNumberOf } from "../../components/chart/line.ts";
import { MetricChart } from "../../components/chart/metric-chart.tsx";
import { useFocus } from "../../components/chart/use-focus.ts";
import { InView } from "../../components/in-view.tsx";
import { trialState } from "../../components/state.ts";
import { AxisChoice, useReported } from "./metric-choice.tsx";
import {
  axesOf,
  metricsOf,
  metricsText,
  type MetricName,
  readMetrics,
  textOf,
  usualMetrics,
} from "./metric-names.ts";
import { MetricsChoice } from "./metrics-choice.tsx";
import styles from "./overview.module.css";
import { rememberedMetrics, rememberMetrics } from "./remembered-metrics.ts";
import type { Experiment } from "./tabs.ts";
import { readTrials, readZoom, trialsText, zoomText } from "./url.ts";
import type { Trial } from "./use-trials.ts";

const route = getRouteApi("/experiments/$experiment");

type Props = {
  readonly experiment: Experiment;
  readonly trials: readonly Trial[];
  /** The trials whose curves are drawn. */
  readonly drawn: readonly Trial[];
};

/** The expected height of a chart: its plot, titles and legend. */
const chartHeight = 340;

/** A chart for each chosen metric. They share zoom, crosshair, smoothing, and the trials that are highlighted. */
export function Curves({ experiment, trials, drawn }: Props): JSX.Element {
  const { id } = experiment;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { metrics, names, axes, choose, reset } = useMetrics(experiment, trials);
  const [smoothing, onSmoothing] = useState(0);
  const focus = useFocus();
  const selected = useMemo(() => readTrials(search.trials), [search.trials]);
  const zoom = useMemo(() => readZoom(search.zoom), [search.zoom]);
  const x = search.x ?? "step";
  const shown = useMemo(
    () => drawn.map((trial) => chartTrialOf(trial.id, trialState(trial))),
    [drawn],
  );
  const ticks = useMemo(() => (x === "time" ? restartsOf(drawn) : []), [drawn, x]);
  const emphasised = useMemo(() => emphasisedOf(experiment, selected), [experiment, selected]);
  const set = (change: Partial<typeof search>): void =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  const onPick = (picked: string): void => {
    const trial = trialNumberOf(picked);
    const next = new Set(selected);
    if (!next.delete(trial)) next.add(trial);
    set({ trials: trialsText(next) });
  };
  return (
    <>
      <div className={styles["choices"]}>
        <MetricsChoice {...{ names }} chosen={metrics} onChoose={choose} onReset={reset} />
        <AxisChoice axes={axes} x={x} onX={(to) => set({ x: to, zoom: undefined })} />
      </div>
      <div className={styles["charts"]}>
        {metrics.map(({ group, name }) => (
          <InView key={textOf({ group, name })} height={chartHeight}>
            <MetricChart
              trials={shown}
              title={metrics.length === 1 ? name : textOf({ group, name })}
              {...{ group, name, x, zoom, emphasised, ticks, onPick, smoothing, onSmoothing }}
              {...focus}
              syncKey={`experiment ${id}`}
              onZoom={(range) => set({ zoom: zoomText(range) })}
            />
          </InView>
        ))}
      </div>
    </>
  );
}

type Metrics = {
  readonly metrics: readonly MetricName[];
  readonly names: readonly MetricName[];
  readonly axes: readonly string[];
  readonly choose: (metrics: readonly MetricName[]) => void;
  readonly reset: (() => void) | undefined;
};

/** The metrics of the URL, else those that were chosen last in this browser, else the usual ones. */
function useMetrics(experiment: Experiment, trials: readonly Trial[]): Metrics {
  const { id, metric } = experiment;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [remembered, setRemembered] = useState(() => rememberedMetrics(id));
  const reported = useReported(experiment, trials);
  const text = search.metrics ?? remembered;
  return useMemo(() => {
    const known = metricsOf(reported, [{ group: "validation", name: metric }]);
    const usual = usualMetrics(metric, known);
    const chosen = readMetrics(text);
    const metrics = chosen.length === 0 ? usual : chosen;
    const show = (next: string): void => {
      rememberMetrics(id, next);
      setRemembered(next);
      const metricsOfUrl = next === "" ? undefined : next;
      void navigate({ search: (now) => ({ ...now, metrics: metricsOfUrl }), replace: true });
    };
    return {
      metrics,
      names: metricsOf(reported, [...usual, ...metrics]),
      axes: [...new Set(metrics.flatMap((one) => axesOf(reported, one)))],
      choose: (next) => show(metricsText(next)),
      reset: chosen.length === 0 ? undefined : () => show(""),
    };
  }, [reported, metric, text, id, navigate]);
}

/** The selected trials and the best one. */
function emphasisedOf(
  { id, bestTrial }: Experiment,
  selected: ReadonlySet<number>,
): ReadonlySet<string> {
  const best = bestTrial === undefined ? [] : [bestTrial];
  return new Set([...best, ...[...selected].map((number) => `${id}.${number}`)]);
}

/** The starts of the trials' later runs. */
function restartsOf(trials: readonly Trial[]): readonly TrialTick[] {
  return trials.flatMap(({ number, runs }) =>
    runs.flatMap(({ number: run, startedAtMs }) =>
      run > 1 && startedAtMs !== undefined
        ? [{ x: startedAtMs, look: number, label: `run ${run}` }]
        : [],
    ),
  );
}
