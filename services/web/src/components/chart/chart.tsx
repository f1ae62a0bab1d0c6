import { type CSSProperties, type JSX, type KeyboardEvent, useMemo, useRef, useState } from "react";
import { type Colours, useColours } from "../../theme/colours.ts";
import { ChartHead } from "./chart-head.tsx";
import styles from "./chart.module.css";
import { ChartTableView } from "./chart-table.tsx";
import { drawnLines } from "./drawn-lines.ts";
import type { Tick } from "./draw.ts";
import { Legend, type LegendEntry } from "./legend.tsx";
import { captionOf, type Line } from "./line.ts";
import { coloursMax, lineStyleOf } from "./line-style.ts";
import { nearestLine } from "./nearest.ts";
import type { PlotPoint, View } from "./plot.ts";
import { Readout } from "./readout.tsx";
import { type Range, xRangeOf } from "./scale.ts";
import { type Display, type DisplayProps, useDisplay } from "./use-display.ts";
import { type Focus, type FocusProps, nobody, useFocus, useIsolated } from "./use-focus.ts";
import { usePlot } from "./use-plot.ts";
import { zoomByKey } from "./zoom.ts";

/** An event in the life of a trial, such as the start of a run; `look` is the trial's. */
export type TrialTick = { readonly x: number; readonly look: number; readonly label: string };

/** The options that a chart of lines and a chart of a metric share. */
export type ChartOptions = FocusProps &
  DisplayProps & {
    /** The title of the x axis; absent: the name of x. */
    readonly xTitle?: string;
    /** The title of the y axis; absent: the title of the chart. */
    readonly yTitle?: string;
    /** The range of x to show; null for all. */
    readonly zoom: Range | null;
    readonly onZoom: (zoom: Range | null) => void;
    /** Trials that keep their hue among many. */
    readonly emphasised?: ReadonlySet<string>;
    readonly ticks?: readonly TrialTick[];
    /** Charts of the same key share their crosshair. */
    readonly syncKey: string;
    /** A click on a line. */
    readonly onPick?: (id: string) => void;
    /** Whether a legend is below the plot; by default for two to sixteen lines. */
    readonly legend?: boolean;
    /** The height of the plot and of its table, in pixels. */
    readonly height?: number;
  };

type Props = ChartOptions & {
  /** The name of the metric. */
  readonly title: string;
  readonly lines: readonly Line[];
  readonly xTitle: string;
  /** The x axis is a time, in milliseconds since 1970. */
  readonly time?: boolean;
  /** The x axis counts, so only whole numbers are labelled. */
  readonly whole?: boolean;
  /** Shown instead of the number of points. */
  readonly caption?: string;
};

const noTicks: readonly TrialTick[] = [];
/** The maximum distance of a selected line from the pointer, as a share of the height. */
const reach = 0.12;

export function Chart(props: Props): JSX.Element {
  const { title, xTitle, time = false, zoom, onZoom, onPick, height = 240 } = props;
  const { yTitle = title, whole = false, emphasised = nobody, syncKey } = props;
  const [point, setPoint] = useState<PlotPoint | null>(null);
  const pressedAt = useRef(0);
  const colours = useColours();
  const display = useDisplay(props);
  const { log, asTable } = display;
  const focus = useFocus(props);
  const lines = useIsolated(props.lines, focus.isolated);
  const all = useMemo(() => xRangeOf(props.lines) ?? ([0, 1] as const), [props.lines]);
  const x = zoom ?? all;
  const view = useView(props, { lines, x, display, focus, colours });
  const onPoint = (to: PlotPoint | null): void => {
    setPoint(to);
    // A crosshair that another chart moves highlights nothing here.
    if (to !== null && Number.isNaN(to.yShare)) return;
    const nearest = to && nearestLine(lines, { ...to, yRange: to.y, log, reach });
    focus.onHighlight(nearest?.of ?? null);
  };
  const events = { onPoint, onZoom, onReset: () => onZoom(null) };
  const host = usePlot(
    view,
    { height, log, time, whole, xTitle, yTitle, syncKey, colours },
    events,
  );
  const hovered = point === null ? null : focus.highlighted;
  return (
    <figure className={styles["chart"]} style={{ "--plot": `${height}px` } as CSSProperties}>
      <ChartHead {...{ title, display }} onReset={zoom === null ? undefined : events.onReset} />
      <div
        className={styles["plot"]}
        hidden={asTable}
        role="img"
        aria-label={summaryOf(title, lines, xTitle)}
        aria-keyshortcuts="l s"
        tabIndex={0}
        onKeyDown={(event) => onKey(event, { display, x, all, onZoom })}
        onPointerDown={({ clientX }) => {
          pressedAt.current = clientX;
        }}
        onClick={({ clientX }) => {
          const dragged = Math.abs(clientX - pressedAt.current) > 3;
          if (!dragged && hovered !== null) onPick?.(hovered);
        }}
      >
        <div ref={host} className={styles["host"]} />
        {point !== null && <Readout {...{ lines, point, time, xTitle, hovered, colours }} />}
      </div>
      {asTable && <ChartTableView lines={lines} range={x} xTitle={xTitle} time={time} />}
      <LegendOf {...{ focus, emphasised }} lines={props.lines} shown={props.legend} />
      <figcaption>{props.caption ?? captionOf(lines)}</figcaption>
    </figure>
  );
}

type Keyed = {
  readonly display: Display;
  readonly x: Range;
  readonly all: Range;
  readonly onZoom: (zoom: Range | null) => void;
};

function onKey(event: KeyboardEvent, { display, x, all, onZoom }: Keyed): void {
  if (event.metaKey || event.ctrlKey || event.altKey) return;
  const next = zoomByKey(event.key, x, all);
  if (event.key === "l") display.onLog();
  else if (event.key === "s") display.onSmooth();
  else if (next !== undefined) onZoom(next);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

type LegendProps = {
  readonly lines: readonly Line[];
  readonly shown: boolean | undefined;
  readonly focus: Focus;
  readonly emphasised: ReadonlySet<string>;
};

function LegendOf({ lines, shown, focus, emphasised }: LegendProps): JSX.Element | null {
  const entries = useMemo(() => entriesOf(lines), [lines]);
  const isShown = shown ?? (entries.length > 1 && entries.length <= coloursMax);
  return isShown ? <Legend {...{ entries, emphasised }} {...focus} /> : null;
}

const entriesOf = (lines: readonly Line[]): readonly LegendEntry[] =>
  lines.map(({ of, label, look, state, y }) => ({
    ...{ id: of, label, look, state },
    value: y.findLast(Number.isFinite),
  }));

type Seen = {
  readonly lines: readonly Line[];
  readonly x: Range;
  readonly display: Display;
  readonly focus: Focus;
  readonly colours: Colours;
};

/** The drawn content of the plot; the same object until the content changes. */
function useView(props: Props, { lines, x, display, focus, colours }: Seen): View {
  const { emphasised = nobody, ticks = noTicks } = props;
  const { smoothing } = display;
  const { highlighted } = focus;
  return useMemo(
    () => ({
      lines: drawnLines(lines, { emphasised, highlighted }, smoothing, colours),
      ticks: ticksOf(ticks, colours),
      x,
    }),
    [lines, emphasised, highlighted, smoothing, colours, ticks, x],
  );
}

function ticksOf(ticks: readonly TrialTick[], { hues, muted }: Colours): readonly Tick[] {
  return ticks.map(({ x, look, label }) => ({
    x,
    label,
    colour: hues[(lineStyleOf(look).hue ?? 0) - 1] ?? muted,
  }));
}

function summaryOf(title: string, lines: readonly Line[], xTitle: string): string {
  const range = xRangeOf(lines);
  const trials = new Set(lines.map(({ of }) => of)).size;
  if (range === null) return `${title}: no points`;
  const who = trials === 1 ? "one line" : `${trials} lines`;
  return `${title} of ${who} over ${xTitle}. The button Table shows the values.`;
}
