import { ChevronLeft, ChevronRight } from "lucide-react";
import { type JSX, useMemo, useState } from "react";
import {
  axisOf,
  type Axis,
  type Brush,
  brushed,
  type Brushes,
  moved,
  placed,
} from "../../canvas/parallel/layout.ts";
import { margin } from "../../canvas/parallel/draw.ts";
import { ParallelCanvas } from "../../canvas/parallel/parallel-canvas.tsx";
import { Button } from "../../components/button.tsx";
import type { PlotProps } from "./plot-rows.ts";
import styles from "./trials.module.css";

const nothing: ReadonlySet<string> = new Set();
const noBrush: ReadonlyMap<string, Brush> = new Map();

/** Hyperparameters that differ and the metric as axes; a brush selects trials. */
export function ParallelCoordinates(props: PlotProps): JSX.Element | null {
  const { rows, hparams, categorical, metric, smallerIsBetter, onSelect } = props;
  const [order, setOrder] = useState<readonly string[] | null>(null);
  const [brushes, setBrushes] = useState<Brushes>(noBrush);
  const names = useMemo(() => [...hparams, metric], [hparams, metric]);
  const axes = useMemo(() => {
    const known =
      order === null ? names : [...order, ...names.filter((one) => !order.includes(one))];
    return known.flatMap((name): Axis[] => {
      const axis = axisOf(name, rows, categorical.has(name));
      return axis === null ? [] : [axis];
    });
  }, [names, order, rows, categorical]);
  const inside = useMemo(
    () => (brushes.size === 0 ? [] : brushed(placed(rows, axes), axes, brushes)),
    [rows, axes, brushes],
  );
  if (axes.length < 2) return null;
  const shown = axes.map(({ name }) => name);
  const headWidth = `min(${100 / (shown.length - 1)}%, 150px)`;
  return (
    <section aria-label="Parallel coordinates">
      <div className={styles["axes"]} style={{ marginInline: margin }}>
        {shown.map((name, at) => (
          <span
            key={name}
            style={{ left: `${(100 * at) / (shown.length - 1)}%`, maxWidth: headWidth }}
          >
            <Button
              look="plain"
              aria-label={`Move ${name} to the left`}
              disabled={name === shown[0]}
              onClick={() => setOrder(moved(shown, name, -1))}
            >
              <ChevronLeft size={12} aria-hidden />
            </Button>
            <span title={name}>{name}</span>
            <Button
              look="plain"
              aria-label={`Move ${name} to the right`}
              disabled={name === shown.at(-1)}
              onClick={() => setOrder(moved(shown, name, 1))}
            >
              <ChevronRight size={12} aria-hidden />
            </Button>
          </span>
        ))}
      </div>
      <ParallelCanvas
        {...{ rows, axes, brushes, metric, smallerIsBetter }}
        onBrushes={setBrushes}
        chosen={nothing}
      />
      <p className={styles["note"]}>
        Drag along an axis to brush it, click to let go. The best fifth by {metric} is blue.{" "}
        {brushes.size > 0 && (
          <>
            <Button
              disabled={inside.length === 0}
              onClick={() => onSelect(new Set(inside.map(({ id }) => id)))}
            >
              Select {inside.length} {inside.length === 1 ? "trial" : "trials"}
            </Button>{" "}
            <Button onClick={() => setBrushes(noBrush)}>Clear brushes</Button>
          </>
        )}
      </p>
    </section>
  );
}
