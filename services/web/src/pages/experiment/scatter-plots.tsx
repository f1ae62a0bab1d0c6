import { type JSX, useMemo, useState } from "react";
import { axisOf } from "../../canvas/parallel/layout.ts";
import { valueText } from "../../canvas/plots/layout.ts";
import { ScatterCanvas } from "../../canvas/plots/scatter-canvas.tsx";
import { trialName } from "../../components/trial-name.ts";
import { own } from "../../data/own.ts";
import type { PlotProps } from "./plot-rows.ts";
import styles from "./trials.module.css";

const plotsMax = 12;

/** The metric over each hyperparameter that differs; the trial under the pointer is marked in all plots. */
export function ScatterPlots(props: PlotProps): JSX.Element {
  const { rows, hparams, categorical, metric, smallerIsBetter, onSelect } = props;
  const [hovered, setHovered] = useState<string>();
  const up = useMemo(() => axisOf(metric, rows), [metric, rows]);
  const across = useMemo(
    () =>
      hparams.slice(0, plotsMax).flatMap((name) => axisOf(name, rows, categorical.has(name)) ?? []),
    [hparams, rows, categorical],
  );
  const row = rows.find(({ id }) => id === hovered);
  return (
    <section aria-label="Scatter plots">
      <div className={styles["plots"]}>
        {up !== null &&
          across.map((axis) => (
            <figure key={axis.name}>
              <figcaption>
                {axis.name}
                {axis.kind === "log" && <span className={styles["muted"]}> log</span>}
              </figcaption>
              <ScatterCanvas
                {...{ rows, across: axis, up, smallerIsBetter, hovered }}
                onHover={setHovered}
                onPick={(id) => onSelect(new Set([id]))}
              />
            </figure>
          ))}
      </div>
      <p className={styles["note"]}>
        {row === undefined
          ? `${metric} over each hyperparameter; the best fifth is blue. Point at a trial to find it in all plots, click to select it.`
          : `${trialName(row.id)}: ${[metric, ...across.map(({ name }) => name)]
              .map((name) => `${name} ${valueText(own(row.values, name))}`)
              .join(", ")}`}
        {hparams.length > plotsMax &&
          ` The first ${plotsMax} of ${hparams.length} hyperparameters are drawn.`}
      </p>
    </section>
  );
}
