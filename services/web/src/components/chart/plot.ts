/**
 * A uPlot for the axes, the crosshair and the selection; draw.ts draws the lines in its hook. uPlot's own series share
 * one list of x: two hundred trials with different times would need two hundred columns over all times. Here each line
 * has its own x.
 */
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Colours } from "../../theme/colours.ts";
import {
  type Area,
  type DrawnLine,
  drawLines,
  drawMarks,
  drawTicks,
  type Frame,
  type Tick,
} from "./draw.ts";
import { logTicks } from "./round-ticks.ts";
import { type Range, wholeIncrements } from "./scale.ts";

export type View = {
  readonly lines: readonly DrawnLine[];
  readonly ticks: readonly Tick[];
  readonly x: Range;
  readonly y: Range;
};

/** Options that are fixed while a plot exists. */
export type PlotOptions = {
  readonly width: number;
  readonly height: number;
  readonly log: boolean;
  /** The x axis is a time, in milliseconds since 1970. */
  readonly time: boolean;
  /** The x axis counts, so only whole numbers are labelled. */
  readonly whole: boolean;
  readonly xTitle: string;
  readonly yTitle: string;
  /** Charts with the same key share their crosshair. */
  readonly syncKey: string;
  readonly colours: Colours;
};

export type PlotEvents = {
  /** Gets the place of the pointer, here or in another chart of the same key; null when it leaves. */
  readonly onPoint: (point: PlotPoint | null) => void;
  readonly onZoom: (range: Range) => void;
  readonly onReset: () => void;
};

export type PlotPoint = {
  /** The share of the x axis. */
  readonly xShare: number;
  /** The share of the y axis, 0 at its start; NaN while another chart has the pointer. */
  readonly yShare: number;
  /** The area between the axes in the element of the plot, in CSS pixels. */
  readonly area: Area;
  /** The place of the area's top left corner in the window. */
  readonly corner: { readonly x: number; readonly y: number };
  /** The size of the window. */
  readonly window: { readonly width: number; readonly height: number };
};

const shortestDrag = 4;

const clock = [null, "\n{MM}-{DD}", null, null, null, 1] as const;

/**
 * Labels of a time axis, with 24 hours and in ISO order. Each row has the shortest distance of two labels in
 * milliseconds, the label, and the text that is added below the first label and at each change of year, month, day,
 * hour, minute or second.
 */
const timeLabels = [
  [365 * 86_400_000, "{YYYY}", null, null, null, null, null, null, 1],
  [28 * 86_400_000, "{YYYY}-{MM}", null, null, null, null, null, null, 1],
  [86_400_000, "{MM}-{DD}", "\n{YYYY}", null, null, null, null, null, 1],
  [60_000, "{HH}:{mm}", "\n{YYYY}-{MM}-{DD}", ...clock],
  [1_000, "{HH}:{mm}:{ss}", "\n{YYYY}-{MM}-{DD}", ...clock],
  [1, "{HH}:{mm}:{ss}.{fff}", "\n{YYYY}-{MM}-{DD}", ...clock],
];

/** Ticks of a logarithmic axis, all of which are labelled. */
const logSplits = {
  splits: (_u: uPlot, _axis: number, least: number, greatest: number) => [
    ...logTicks(least, greatest),
  ],
  filter: (_u: uPlot, splits: number[]) => splits,
};

export class Plot {
  readonly #uplot: uPlot;
  readonly #log: boolean;
  #view: View;

  constructor(host: HTMLElement, options: PlotOptions, events: PlotEvents) {
    this.#log = options.log;
    this.#view = { lines: [], ticks: [], x: [0, 1], y: options.log ? [1, 10] : [0, 1] };
    this.#uplot = new uPlot(this.#optionsOf(options, events), [[0, 1]], host);
  }

  get canvas(): HTMLCanvasElement {
    return this.#uplot.ctx.canvas;
  }

  /** Shows a view and draws at once. */
  show(view: View): void {
    this.#view = view;
    const [min, max] = view.x;
    const [yMin, yMax] = view.y;
    this.#uplot.batch(() => {
      this.#uplot.setScale("x", { min, max });
      this.#uplot.setScale("y", { min: yMin, max: yMax });
    });
  }

  resize(width: number, height: number): void {
    this.#uplot.setSize({ width, height });
  }

  destroy(): void {
    this.#uplot.destroy();
  }

  #draw(u: uPlot): void {
    const { left, top, width, height } = u.bbox;
    const frame: Frame = {
      area: { left, top, width, height },
      ratio: uPlot.pxRatio,
      x: this.#view.x,
      y: this.#view.y,
      log: this.#log,
    };
    drawTicks(u.ctx, frame, this.#view.ticks);
    drawLines(u.ctx, frame, this.#view.lines);
    drawMarks(u.ctx, frame, this.#view.lines);
  }

  #optionsOf(options: PlotOptions, events: PlotEvents): uPlot.Options {
    const { width, height, log, time, whole, xTitle, yTitle, syncKey, colours } = options;
    const font = `11px ${colours.mono}`;
    const axis = {
      font,
      stroke: colours.muted,
      grid: { stroke: colours.line, width: 1 },
      ticks: { show: false },
      labelFont: font,
      labelSize: 16,
      labelGap: 0,
    };
    return {
      width,
      height,
      ms: 1,
      legend: { show: false },
      padding: [8, 20, 0, 0],
      series: [{}],
      scales: {
        x: { time, auto: false, range: () => [...this.#view.x] },
        y: { auto: false, distr: log ? 3 : 1, range: () => [...this.#view.y] },
      },
      axes: [
        {
          ...axis,
          label: xTitle,
          size: time ? 44 : 28,
          gap: 6,
          ...(whole ? { incrs: wholeIncrements } : {}),
          // The longest label, with milliseconds, is about 80 pixels wide.
          ...(time ? { values: timeLabels, space: 90 } : {}),
        },
        {
          ...axis,
          label: yTitle,
          size: 60,
          gap: 6,
          values: (_u, splits) => splits.map(axisLabel),
          ...(log ? logSplits : {}),
        },
      ],
      cursor: {
        // The crosshair of crosshair.tsx is at the closest point, not at the pointer.
        ...{ x: false, y: false },
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: shortestDrag },
        sync: { key: syncKey, setSeries: false, scales: ["x", null] },
        bind: {
          dblclick: () => () => {
            events.onReset();
            return null;
          },
        },
      },
      hooks: {
        draw: [(u) => this.#draw(u)],
        setSelect: [
          (u) => {
            const { left, width: chosen } = u.select;
            if (chosen < shortestDrag) return;
            const range: Range = [u.posToVal(left, "x"), u.posToVal(left + chosen, "x")];
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            events.onZoom(range);
          },
        ],
        setCursor: [(u) => events.onPoint(this.#pointOf(u))],
      },
    };
  }

  #pointOf(u: uPlot): PlotPoint | null {
    const { left: across = -1, top: down = -1 } = u.cursor;
    if (across < 0) return null;
    const [left, top, width, height] = [u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height].map(
      (length) => length / uPlot.pxRatio,
    ) as [number, number, number, number];
    // A crosshair that another chart moves has only an x: its height has another scale here.
    const yShare = down < 0 || !u.over.matches(":hover") ? Number.NaN : 1 - down / height;
    const corner = { x: u.rect.left, y: u.rect.top };
    const area = { left, top, width, height };
    const window = { width: innerWidth, height: innerHeight };
    return { xShare: across / width, yShare, area, corner, window };
  }
}

/** Formats a value in at most six characters: 0.00012 is 1.2e-4. */
function axisLabel(value: number | null): string {
  if (value === null) return "";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) {
    return value
      .toExponential(2)
      .replace(/\.?0+e/, "e")
      .replace("e+", "e");
  }
  return String(Number(value.toPrecision(5)));
}
