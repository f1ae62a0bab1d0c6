/** The content of a chart's crosshair and tooltip, from the points at the pointer. */
import type { Colours } from "../../theme/colours.ts";
import { number } from "../format.ts";
import type { Line } from "./line.ts";
import { type LineStyle, strokeOf } from "./line-style.ts";
import type { PlotPoint } from "./plot.ts";
import type { PointOf, PointsAt } from "./points-at.ts";
import { shownX } from "./x-text.ts";

export type PointedRow = {
  readonly label: string;
  readonly value: string;
  /** The minimum and maximum of a bucket of several points, and its x if it is another than that of the tooltip. */
  readonly note: string;
  readonly colour: string;
  readonly dash: string;
  readonly isHighlighted: boolean;
};

export type Pointed = {
  /** The line through the step, in CSS pixels of the plot's element. */
  readonly hair: { readonly left: number; readonly top: number; readonly height: number };
  readonly dots: readonly {
    readonly left: number;
    readonly top: number;
    readonly colour: string;
  }[];
  /** Null while another chart has the pointer. */
  readonly tooltip: {
    readonly head: string;
    readonly rows: readonly PointedRow[];
    /** "and 88 more", or empty. */
    readonly more: string;
    /** The pointer in the window. */
    readonly x: number;
    readonly y: number;
    readonly window: { readonly width: number; readonly height: number };
  } | null;
};

export type TooltipOptions = {
  readonly xTitle: string;
  readonly time: boolean;
  readonly highlighted: string | null;
  readonly looks: ReadonlyMap<string, LineStyle>;
  readonly colours: Colours;
};

/** The most lines that are listed, and the most that have a dot. */
const listedMax = 12;
const dotsMax = 16;

export function pointedOf(at: PointsAt, pointer: PlotPoint, look: TooltipOptions): Pointed {
  const { area } = pointer;
  const { snap, points } = at;
  return {
    hair: { left: area.left + snap.across * area.width, top: area.top, height: area.height },
    dots: points
      .slice(0, dotsMax)
      .filter(({ up }) => up >= 0 && up <= 1)
      .map(({ line, across, up }) => ({
        left: area.left + across * area.width,
        top: area.top + (1 - up) * area.height,
        colour: strokeOf(look.looks.get(line.of), look.colours).colour,
      })),
    tooltip: Number.isNaN(pointer.yShare) ? null : tooltipOf(at, pointer, look),
  };
}

function tooltipOf({ snap, points }: PointsAt, pointer: PlotPoint, look: TooltipOptions) {
  const { area, corner, window, xShare, yShare } = pointer;
  const more = points.length - listedMax;
  return {
    head: `${look.xTitle} ${bucketText(snap, look.time)}`,
    rows: points.slice(0, listedMax).map((point) => rowOf(point, snap, look)),
    more: more > 0 ? `and ${more} more` : "",
    x: corner.x + xShare * area.width,
    y: corner.y + (1 - yShare) * area.height,
    window,
  };
}

function rowOf(point: PointOf, snap: PointOf, look: TooltipOptions): PointedRow {
  const { line, index } = point;
  const { colour, dash } = strokeOf(look.looks.get(line.of), look.colours);
  const isOther =
    line.from[index] !== snap.line.from[snap.index] || line.to[index] !== snap.line.to[snap.index];
  const notes = [rangeText(line, index), isOther ? `at ${bucketText(point, look.time)}` : ""];
  return {
    label: line.label,
    value: valueText(line, index),
    note: notes.filter(Boolean).join(" "),
    colour,
    dash: dash.join(" "),
    isHighlighted: line.of === look.highlighted,
  };
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
