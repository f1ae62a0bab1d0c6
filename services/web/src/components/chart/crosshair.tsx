import type { JSX } from "react";
import type { Colours } from "../../theme/colours.ts";
import styles from "./chart.module.css";
import { type LineStyle, strokeOf } from "./line-style.ts";
import type { PlotPoint } from "./plot.ts";
import type { PointsAt } from "./points-at.ts";

type Props = {
  readonly at: PointsAt;
  readonly pointer: PlotPoint;
  readonly looks: ReadonlyMap<string, LineStyle>;
  readonly colours: Colours;
};

const dotsMax = 16;

/** A line through the step closest to the pointer, with a dot on each line's point. */
export function Crosshair({ at: { snap, points }, pointer, looks, colours }: Props): JSX.Element {
  const { left, top, width, height } = pointer.area;
  const dots = points.slice(0, dotsMax).filter(({ up }) => up >= 0 && up <= 1);
  return (
    <div className={styles["crosshair"]} aria-hidden>
      <i style={{ left: left + snap.across * width, top, height }} />
      {dots.map(({ line, across, up }) => (
        <b
          key={line.id}
          style={{
            left: left + across * width,
            top: top + (1 - up) * height,
            background: strokeOf(looks.get(line.of), colours).colour,
          }}
        />
      ))}
    </div>
  );
}
