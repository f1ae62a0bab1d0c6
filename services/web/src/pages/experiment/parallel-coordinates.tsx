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
  type Row,
} from "../../canvas/parallel/layout.ts";
import { ParallelCanvas } from "../../canvas/parallel/parallel-canvas.tsx";
import { Button } from "../../components/button.tsx";
import type { TabProps } from "./tabs.ts";
import { hparamsOf, namesOf } from "./trial-columns.tsx";
import styles from "./trials.module.css";
import type { Trial } from "./use-trials.ts";

type Props = TabProps & {
  readonly trials: readonly Trial[];
  readonly onSelect: (ids: ReadonlySet<string>) => void;
};

const nothing: ReadonlySet<string> = new Set();
const noBrush: ReadonlyMap<string, Brush> = new Map();

/** Hyperparameters that differ and the metric as axes; a brush chooses trials. */
export function ParallelCoordinates({ experiment, trials, onSelect }: Props): JSX.Element | null {
  const { metric, smallerIsBetter } = experiment;
  const [order, setOrder] = useState<readonly string[] | null>(null);
  const [brushes, setBrushes] = useState<Brushes>(noBrush);
  const rows = useMemo(() => rowsOf(trials, metric), [trials, metric]);
  const names = useMemo(() => [...namesOf(trials).hparams, metric], [trials, metric]);
  const axes = useMemo(() => {
    const known =
      order === null ? names : [...order, ...names.filter((one) => !order.includes(one))];
    return known.flatMap((name): Axis[] => {
      const axis = axisOf(name, rows);
      return axis === null ? [] : [axis];
    });
  }, [names, order, rows]);
  const inside = useMemo(
    () => (brushes.size === 0 ? [] : brushed(placed(rows, axes), axes, brushes)),
    [rows, axes, brushes],
  );
  if (axes.length < 2) return null;
  const shown = axes.map(({ name }) => name);
  return (
    <section className={styles["above"]} aria-label="Parallel coordinates">
      <div className={styles["axes"]}>
        {shown.map((name) => (
          <span key={name}>
            <Button
              look="plain"
              aria-label={`Move ${name} to the left`}
              disabled={name === shown[0]}
              onClick={() => setOrder(moved(shown, name, -1))}
            >
              <ChevronLeft size={12} aria-hidden />
            </Button>
            {name}
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

function rowsOf(trials: readonly Trial[], metric: string): readonly Row[] {
  return trials.map((trial) => ({
    id: trial.id,
    values: { ...Object.fromEntries(hparamsOf(trial)), [metric]: trial.bestValue },
  }));
}
