import { type JSX, type PointerEvent, useMemo, useState } from "react";
import { useColours } from "../../theme/colours.ts";
import type { Axis, Row } from "../parallel/layout.ts";
import { useCanvas } from "../use-canvas.ts";
import { drawScatter } from "./draw.ts";
import { dotsOf, frameOf, nearestDot, ticksOf } from "./layout.ts";
import styles from "./plot-canvas.module.css";

type Props = {
  readonly rows: readonly Row[];
  readonly across: Axis;
  readonly up: Axis;
  readonly smallerIsBetter: boolean;
  /** The row that is marked in this plot and in the plots beside it. */
  readonly hovered: string | undefined;
  readonly onHover: (id: string | undefined) => void;
  readonly onPick: (id: string) => void;
};

const height = 190;
const reach = 12;

/** A dot for each row: one hyperparameter across, the metric upwards. */
export function ScatterCanvas(props: Props): JSX.Element {
  const { rows, across, up, smallerIsBetter, hovered, onHover, onPick } = props;
  const colours = useColours();
  const [width, setWidth] = useState(0);
  const frame = useMemo(() => frameOf(width, height), [width]);
  const dots = useMemo(
    () => dotsOf(rows, across, up, smallerIsBetter, frame),
    [rows, across, up, smallerIsBetter, frame],
  );
  const ticks = useMemo(() => ticksOf(across, up, frame), [across, up, frame]);
  const { host, canvas } = useCanvas({ width, height }, setWidth, (ctx) =>
    drawScatter(ctx, { width, height, frame, ticks, dots, hovered }, colours),
  );
  const at = (event: PointerEvent<HTMLElement>): string | undefined => {
    const box = event.currentTarget.getBoundingClientRect();
    return nearestDot(dots, event.clientX - box.left, event.clientY - box.top, reach)?.id;
  };
  return (
    <div ref={host} className={styles["host"]}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${up.name} over ${across.name} of ${dots.length} trials. The table below has the same values.`}
        data-hit={hovered !== undefined}
        onPointerMove={(event) => onHover(at(event))}
        onPointerLeave={() => onHover(undefined)}
        onPointerUp={(event) => {
          const id = at(event);
          if (id !== undefined) onPick(id);
        }}
      />
    </div>
  );
}
