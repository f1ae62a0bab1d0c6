import { type JSX, type PointerEvent, useMemo, useRef, useState } from "react";
import { useColours } from "../../theme/colours.ts";
import { useCanvas } from "../use-canvas.ts";
import { drawParallel, margin, shareOfY } from "./draw.ts";
import {
  axisAt,
  type Axis,
  type Brush,
  brushed,
  type Brushes,
  placed,
  type Row,
} from "./layout.ts";
import styles from "./parallel-canvas.module.css";

type Props = {
  readonly rows: readonly Row[];
  readonly axes: readonly Axis[];
  readonly brushes: Brushes;
  readonly onBrushes: (brushes: Brushes) => void;
  readonly chosen: ReadonlySet<string>;
  /** The axis that colours the lines. */
  readonly metric: string;
  readonly smallerIsBetter: boolean;
};

const height = 280;
const shortestBrush = 0.01;

/** A drag on an axis brushes it, a click removes its brush. */
export function ParallelCanvas(props: Props): JSX.Element {
  const { rows, axes, brushes, onBrushes, chosen, metric, smallerIsBetter } = props;
  const colours = useColours();
  const [width, setWidth] = useState(0);
  const drag = useRef<{ name: string; from: number } | null>(null);
  const lines = useMemo(() => placed(rows, axes), [rows, axes]);
  const inside = useMemo(
    () => new Set(brushed(lines, axes, brushes).map(({ id }) => id)),
    [lines, axes, brushes],
  );
  const metricAt = axes.findIndex(({ name }) => name === metric);
  const { host, canvas } = useCanvas({ width, height }, setWidth, (ctx) =>
    drawParallel(
      ctx,
      {
        ...{ width, height, axes, rows: lines, inside, chosen, brushes },
        rankOf: ({ shares }) => {
          const share = shares[metricAt] ?? Number.NaN;
          if (Number.isNaN(share)) return 1;
          return smallerIsBetter ? share : 1 - share;
        },
      },
      colours,
    ),
  );
  const place = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const axis = axes[axisAt(event.clientX - box.left, axes.length, width, margin)];
    return { name: axis?.name ?? "", share: shareOfY(event.clientY - box.top, height) };
  };
  const brush = (name: string, range: Brush | null): void => {
    const next = new Map(brushes);
    if (range === null) next.delete(name);
    else next.set(name, range);
    onBrushes(next);
  };
  return (
    <div ref={host} className={styles["host"]}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`Parallel coordinates of ${rows.length} trials over ${axes.map(({ name }) => name).join(", ")}. The table below has the same values, and its filter selects trials like a brush.`}
        onPointerDown={(event) => {
          const { name, share } = place(event);
          event.currentTarget.setPointerCapture(event.pointerId);
          drag.current = { name, from: share };
          brush(name, null);
        }}
        onPointerMove={(event) => {
          if (drag.current === null) return;
          const { name, from } = drag.current;
          const { share } = place(event);
          if (Math.abs(share - from) < shortestBrush) return;
          brush(name, [Math.min(from, share), Math.max(from, share)]);
        }}
        onPointerUp={() => {
          drag.current = null;
        }}
      />
    </div>
  );
}
