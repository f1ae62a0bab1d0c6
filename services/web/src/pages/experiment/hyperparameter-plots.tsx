import { getRouteApi } from "@tanstack/react-router";
import { type JSX, useMemo } from "react";
import { axisOf } from "../../canvas/parallel/layout.ts";
import { HeatMap } from "./heat-map.tsx";
import { ParallelCoordinates } from "./parallel-coordinates.tsx";
import { categoricalOf, type PlotProps, rowsOf } from "./plot-rows.ts";
import { ScatterPlots } from "./scatter-plots.tsx";
import type { Experiment, TabProps } from "./tabs.ts";
import { namesOf } from "./trial-columns.tsx";
import styles from "./trials.module.css";
import type { Trial } from "./use-trials.ts";

const route = getRouteApi("/experiments/$experiment");

const plots = [
  { id: "parallel", title: "Parallel coordinates", Plot: ParallelCoordinates },
  { id: "scatter", title: "Scatter plots", Plot: ScatterPlots },
  { id: "heat", title: "Heat map", Plot: HeatMap },
] as const;

type Plotted = Pick<PlotProps, "rows" | "hparams" | "categorical">;

/** The trials and the hyperparameters that differ between them; null if none differs, or no trial has the metric. */
export function usePlotted(
  { metric, config }: Experiment,
  trials: readonly Trial[],
): Plotted | null {
  const rows = useMemo(() => rowsOf(trials, metric), [trials, metric]);
  const hparams = useMemo(
    () => namesOf(trials).hparams.filter((name) => axisOf(name, rows) !== null),
    [trials, rows],
  );
  const categorical = useMemo(() => categoricalOf(config), [config]);
  const hasMetric = useMemo(() => axisOf(metric, rows) !== null, [metric, rows]);
  return hparams.length === 0 || !hasMetric ? null : { rows, hparams, categorical };
}

type Props = TabProps & {
  readonly plotted: Plotted;
  readonly onSelect: (ids: ReadonlySet<string>) => void;
};

/** Plots of hyperparameters against the metric. */
export function HyperparameterPlots({ experiment, plotted, onSelect }: Props): JSX.Element {
  const { metric, smallerIsBetter } = experiment;
  const { plot } = route.useSearch();
  const navigate = route.useNavigate();
  const shown = plots.find(({ id }) => id === plot) ?? plots[0];
  return (
    <div className={styles["drawings"]}>
      <div className={styles["choice"]} role="group" aria-label="Plot of the trials">
        {plots.map(({ id, title }) => (
          <button
            key={id}
            type="button"
            aria-pressed={id === shown.id}
            onClick={() =>
              void navigate({
                search: ({ plot: _was, ...old }) =>
                  id === "parallel" ? old : { ...old, plot: id },
                replace: true,
              })
            }
          >
            {title}
          </button>
        ))}
      </div>
      <shown.Plot {...{ ...plotted, metric, smallerIsBetter, onSelect }} />
    </div>
  );
}
