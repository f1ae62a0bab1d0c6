import { type JSX, type PointerEvent, useMemo, useState } from "react";
import { useColours } from "../../theme/colours.ts";
import type { Axis } from "../parallel/layout.ts";
import { useCanvas } from "../use-canvas.ts";
import { drawHeat } from "./draw.ts";
import { type Cell, cellAt, frameOf, type Heat, ticksOf } from "./layout.ts";
import styles from "./plot-canvas.module.css";

type Props = {
  readonly heat: Heat;
  readonly across: Axis;
  readonly up: Axis;
  /** The name of the metric that colours the cells. */
  readonly metric: string;
  readonly hovered: Cell | null;
  readonly onHover: (cell: Cell | null) => void;
  readonly onPick: (cell: Cell) => void;
};

const height = 280;

/** A cell for each pair of values of two hyperparameters; a stronger colour is a better mean of its trials. */
export function HeatCanvas(props: Props): JSX.Element {
  const { heat, across, up, metric, hovered, onHover, onPick } = props;
  const colours = useColours();
  const [width, setWidth] = useState(0);
  const frame = useMemo(() => frameOf(width, height), [width]);
  const ticks = useMemo(() => ticksOf(across, up, frame), [across, up, frame]);
  const { host, canvas } = useCanvas({ width, height }, setWidth, (ctx) =>
    drawHeat(ctx, { width, height, frame, ticks, heat, hovered }, colours),
  );
  const at = (event: PointerEvent<HTMLElement>): Cell | null => {
    const box = event.currentTarget.getBoundingClientRect();
    return cellAt(heat, frame, event.clientX - box.left, event.clientY - box.top);
  };
  return (
    <div ref={host} className={styles["host"]}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`Mean ${metric} by ${across.name} and ${up.name}, in ${heat.cells.length} cells with trials. The table below has the same values.`}
        data-hit={hovered !== null}
        onPointerMove={(event) => onHover(at(event))}
        onPointerLeave={() => onHover(null)}
        onPointerUp={(event) => {
          const cell = at(event);
          if (cell !== null) onPick(cell);
        }}
      />
    </div>
  );
}
