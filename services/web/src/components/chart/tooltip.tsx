import { type JSX, type RefObject, useLayoutEffect, useRef } from "react";
import type { Colours } from "../../theme/colours.ts";
import { number } from "../format.ts";
import styles from "./chart.module.css";
import { Swatch } from "./legend.tsx";
import type { Line } from "./line.ts";
import { type LineStyle, strokeOf } from "./line-style.ts";
import { placeBeside } from "./place-beside.ts";
import type { PlotPoint } from "./plot.ts";
import type { PointOf, PointsAt } from "./points-at.ts";
import { shownX } from "./x-text.ts";

type Props = {
  readonly at: PointsAt;
  readonly pointer: PlotPoint;
  /** The element whose top left corner the pointer's area is measured from. */
  readonly host: RefObject<HTMLElement | null>;
  readonly xTitle: string;
  readonly time: boolean;
  readonly highlighted: string | null;
  readonly looks: ReadonlyMap<string, LineStyle>;
  readonly colours: Colours;
};

/** The most lines that are listed. */
const listedMax = 12;

/** The points of all lines at the step closest to the pointer, the nearest first. */
export function Tooltip({ at, pointer, host, ...rest }: Props): JSX.Element {
  const { xTitle, time, highlighted, looks, colours } = rest;
  const { snap, points } = at;
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const origin = host.current?.getBoundingClientRect();
    if (box.current === null || origin === undefined) return;
    const { area, xShare, yShare } = pointer;
    const on = {
      x: origin.left + area.left + xShare * area.width,
      y: origin.top + area.top + (1 - yShare) * area.height,
    };
    const { offsetWidth: width, offsetHeight: height } = box.current;
    const window = { width: innerWidth, height: innerHeight };
    const { x, y } = placeBeside(on, { width, height }, window);
    box.current.style.transform = `translate(${x}px, ${y}px)`;
  });
  const head = bucketText(snap, time);
  const more = points.length - listedMax;
  return (
    <div ref={box} className={styles["tooltip"]} data-tooltip aria-hidden>
      <div className={styles["tooltipHead"]}>
        {xTitle} {head}
      </div>
      {points.slice(0, listedMax).map((point) => {
        const { line } = point;
        const own = bucketText(point, time);
        return (
          <div key={line.id} data-highlighted={line.of === highlighted}>
            <Swatch {...strokeOf(looks.get(line.of), colours)} />
            <span className={styles["name"]}>{line.label}</span>
            <b>{valueText(line, point.index)}</b>
            <span>
              {rangeText(line, point.index)} {own !== head && `at ${own}`}
            </span>
          </div>
        );
      })}
      {more > 0 && <div className={styles["tooltipHead"]}>and {more} more</div>}
    </div>
  );
}

/** The first and the last x of a bucket. */
function bucketText({ line, index }: PointOf, time: boolean): string {
  const [from = Number.NaN, to = Number.NaN] = [line.from[index], line.to[index]];
  const [first, last] = [shownX(from, time), shownX(to, time)];
  return first === last ? first : `${first} … ${last}`;
}

const markTexts = { nan: "NaN", inf: "∞", "-inf": "-∞", "±inf": "±∞" } as const;

/** The value of a bucket: its mean, or the kinds of its values if none is finite. */
function valueText({ x, y, marks }: Line, index: number): string {
  const value = y[index] ?? Number.NaN;
  if (Number.isFinite(value)) return number(value);
  const kinds = marks.filter((mark) => mark.x === x[index]).map(({ kind }) => markTexts[kind]);
  return kinds.join(" ") || "NaN";
}

/** The minimum and the maximum of a bucket that has several values. */
function rangeText({ low, high }: Line, index: number): string {
  const [least = Number.NaN, most = Number.NaN] = [low[index], high[index]];
  return most > least ? `${number(least)} … ${number(most)}` : "";
}
