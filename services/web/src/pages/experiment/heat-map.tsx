import { getRouteApi } from "@tanstack/react-router";
import { type JSX, useMemo, useState } from "react";
import { axisOf } from "../../canvas/parallel/layout.ts";
import { HeatCanvas } from "../../canvas/plots/heat-canvas.tsx";
import { type Cell, heatOf } from "../../canvas/plots/layout.ts";
import { Choice } from "../../components/field.tsx";
import { number } from "../../components/format.ts";
import type { PlotProps } from "./plot-rows.ts";
import styles from "./trials.module.css";

const route = getRouteApi("/experiments/$experiment");

/** The mean of the metric by the values of two hyperparameters. */
export function HeatMap(props: PlotProps): JSX.Element {
  const { rows, hparams, categorical, metric, smallerIsBetter, onSelect } = props;
  const chosen = route.useSearch();
  const navigate = route.useNavigate();
  const [hovered, setHovered] = useState<Cell | null>(null);
  const known = (name: string | undefined): name is string =>
    name !== undefined && hparams.includes(name);
  const x = known(chosen.across) ? chosen.across : (hparams[0] ?? "");
  const y = known(chosen.up) && chosen.up !== x ? chosen.up : hparams.find((name) => name !== x);
  const choose = (axes: { readonly across: string; readonly up: string }): void =>
    void navigate({ search: (old) => ({ ...old, ...axes }), replace: true });
  const across = useMemo(() => axisOf(x, rows, categorical.has(x)), [x, rows, categorical]);
  const up = useMemo(
    () => (y === undefined ? null : axisOf(y, rows, categorical.has(y))),
    [y, rows, categorical],
  );
  const heat = useMemo(
    () =>
      across === null || up === null ? null : heatOf(rows, across, up, metric, smallerIsBetter),
    [rows, across, up, metric, smallerIsBetter],
  );
  if (heat === null || across === null || up === null) {
    return (
      <p className={styles["note"]}>
        A heat map needs two hyperparameters that differ between the trials.
      </p>
    );
  }
  return (
    <section aria-label="Heat map">
      <div className={styles["pair"]}>
        <Choice
          label="Across"
          value={x}
          onChange={({ target }) => choose({ across: target.value, up: up.name })}
        >
          {hparams.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </Choice>
        <Choice
          label="Upwards"
          value={up.name}
          onChange={({ target }) => choose({ across: x, up: target.value })}
        >
          {hparams.map((name) => (
            <option key={name} disabled={name === x}>
              {name}
            </option>
          ))}
        </Choice>
      </div>
      <HeatCanvas
        {...{ heat, across, up, metric, hovered }}
        onHover={setHovered}
        onPick={({ ids }) => onSelect(new Set(ids))}
      />
      <p className={styles["note"]}>
        {hovered === null
          ? `Each cell has the mean of the best ${metric} of its trials: the stronger, the better. Click to select its trials.`
          : `${x} ${hovered.across}, ${up.name} ${hovered.up}: mean ${metric} ${number(hovered.mean)} of ${hovered.ids.length} ${hovered.ids.length === 1 ? "trial" : "trials"}`}
      </p>
    </section>
  );
}
