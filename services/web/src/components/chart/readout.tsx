import type { JSX } from "react";
import type { Colours } from "../../theme/colours.ts";
import { number } from "../format.ts";
import styles from "./chart.module.css";
import { shownX } from "./x-text.ts";
import type { Line } from "./line.ts";
import { lineStyleOf } from "./line-style.ts";
import { closestIndex } from "./nearest.ts";
import type { PlotPoint } from "./plot.ts";

type Props = {
  readonly lines: readonly Line[];
  readonly point: PlotPoint;
  readonly xTitle: string;
  readonly time: boolean;
  /** The line under the pointer; among many lines only this one is named. */
  readonly hovered: string | null;
  readonly colours: Colours;
};

const namedMax = 8;

/** The values at the crosshair. */
export function Readout(props: Props): JSX.Element {
  const { lines, point, xTitle, time, hovered, colours } = props;
  const named = lines.length <= namedMax ? lines : lines.filter(({ of }) => of === hovered);
  return (
    <div className={styles["readout"]} aria-hidden>
      <div className={styles["readoutX"]}>
        {xTitle} {shownX(point.x, time)}
      </div>
      {named.map((line) => {
        const index = closestIndex(line.x, point.x);
        const [low = Number.NaN, high = Number.NaN] = [line.low[index], line.high[index]];
        return (
          <div key={line.id} data-hovered={line.of === hovered}>
            <i style={{ background: colours.hues[(lineStyleOf(line.look).hue ?? 1) - 1] }} />
            {line.label} {line.group !== "validation" && line.group}
            <b>{number(line.y[index] ?? Number.NaN)}</b>
            {high > low && (
              <span>
                {number(low)} … {number(high)}
              </span>
            )}
          </div>
        );
      })}
    </div>
  );
}
