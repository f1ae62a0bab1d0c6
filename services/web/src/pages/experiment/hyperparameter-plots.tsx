import { getRouteApi } from "@tanstack/react-router";
import { type JSX, useMemo } from "react";
import { axisOf } from "../../canvas/parallel/layout.ts";
import { HeatMap } from "./heat-map.tsx";
import { ParallelCoordinates } from "./parallel-coordinates.tsx";
import { rowsOf } from "./plot-rows.ts";
import { ScatterPlots } from "./scatter-plots.tsx";
import type { TabProps } from "./tabs.ts";
import { namesOf } from "./trial-columns.tsx";
import styles from "./trials.module.css";
import type { Trial } from "./use-trials.ts";

const route = getRouteApi("/experiments/$experiment");

const plots = [
  { id: "parallel", title: "Parallel coordinates", Plot: ParallelCoordinates },
  { id: "scatter", title: "Scatter plots", Plot: ScatterPlots },
  { id: "heat", title: "Heat map", Plot: HeatMap },
] as const;

type Props = TabProps & {
  readonly trials: readonly Trial[];
  readonly onSelect: (ids: ReadonlySet<string>) => void;
};

/** Plots of hyperparameters against the metric; nothing if no hyperparameter differs. */
export function HyperparameterPlots({ experiment, trials, onSelect }: Props): JSX.Element | null {
  const { metric, smallerIsBetter } = experiment;
  const { plot } = route.useSearch();
  const navigate = route.useNavigate();
  const rows = useMemo(() => rowsOf(trials, metric), [trials, metric]);
  const hparams = useMemo(
    () => namesOf(trials).hparams.filter((name) => axisOf(name, rows) !== null),
    [trials, rows],
  );
  const hasMetric = useMemo(() => axisOf(metric, rows) !== null, [metric, rows]);
  if (hparams.length === 0 || !hasMetric) return null;
  const shown = plots.find(({ id }) => id === plot) ?? plots[0];
  return (
    <div className={styles["above"]}>
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
      <shown.Plot {...{ rows, hparams, metric, smallerIsBetter, onSelect }} />
    </div>
  );
}
