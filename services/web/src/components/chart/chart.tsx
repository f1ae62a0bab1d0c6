import {
  type CSSProperties,
  type JSX,
  type KeyboardEvent,
  useCallback,
  useMemo,
  useRef,
} from "react";
import { type Colours, useColours } from "../../theme/colours.ts";
import { ChartHead } from "./chart-head.tsx";
import styles from "./chart.module.css";
import { ChartTableView } from "./chart-table.tsx";
import { drawnLines } from "./drawn-lines.ts";
import type { Tick } from "./draw.ts";
import { Legend } from "./legend.tsx";
import { captionOf, type Line } from "./line.ts";
import { type LineStyle, lineStyleOf, lineStylesOf } from "./line-style.ts";
import type { Drawn } from "./nearest.ts";
import type { View } from "./plot.ts";
import type { Axes } from "./points-at.ts";
import { type Range, xRangeOf, yRangeOf } from "./scale.ts";
import { smoothed } from "./smooth.ts";
import { type Display, type DisplayProps, useDisplay } from "./use-display.ts";
import { type FocusProps, nobody, useFocus, useIsolated } from "./use-focus.ts";
import { useLegend } from "./use-legend.ts";
import { usePlot } from "./use-plot.ts";
import { usePointer } from "./use-pointer.ts";
import { useReadout } from "./use-readout.ts";
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
    /** Whether all lines are in the legend; absent: all of two to sixteen, and the emphasised ones of more. */
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

export function Chart(props: Props): JSX.Element {
  const { title, xTitle, time = false, zoom, onZoom, onPick, height = 240 } = props;
  const { yTitle = title, whole = false, emphasised = nobody, syncKey } = props;
  const pressedAt = useRef(0);
  const colours = useColours();
  const display = useDisplay(props);
  const { log, asTable } = display;
  const focus = useFocus(props);
  const { highlighted } = focus;
  const lines = useIsolated(props.lines, focus.isolated);
  const all = useMemo(() => xRangeOf(props.lines) ?? ([0, 1] as const), [props.lines]);
  const x = zoom ?? all;
  const { drawn, axes } = useDrawn(lines, x, display);
  const view = useView(props, { drawn, axes, highlighted, colours });
  const { pointer, isElsewhere, onPoint } = usePointer(drawn, axes, focus);
  const onReset = useStable(() => onZoom(null));
  const events = { onPoint, onZoom, onReset };
  const shape = { height, log, time, whole, xTitle, yTitle, syncKey, colours };
  const host = usePlot(view, shape, events);
  const looks = useLooks(lines, emphasised, highlighted);
  const shown = useStable(() => ({ xTitle, lines, x, looks, colours }));
  const entries = useLegend(props.lines, props.legend, emphasised);
  const look = { xTitle, time, highlighted, looks, colours };
  const { layer, legend } = useReadout({ ...look, pointer, drawn, axes, entries });
  return (
    <figure className={styles["chart"]} style={{ "--plot": `${height}px` } as CSSProperties}>
      <ChartHead {...{ title, display, onReset, shown, host }} isZoomed={zoom !== null} />
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
          if (!dragged && pointer !== null && highlighted !== null) onPick?.(highlighted);
        }}
      >
        <div ref={host} className={styles["host"]} />
        <div ref={layer} aria-hidden />
      </div>
      {asTable && <ChartTableView lines={lines} range={x} xTitle={xTitle} time={time} />}
      {entries !== null && <Legend list={legend} {...{ entries, emphasised }} {...focus} />}
      <figcaption>
        <span>{props.caption ?? captionOf(lines)}</span>
        {pointer !== null && !isElsewhere && <span>{hintOf(zoom)}</span>}
      </figcaption>
    </figure>
  );
}

/** Returns a function that stays the same and calls the latest one: what gets it is not drawn again for it. */
function useStable<Of>(latest: () => Of): () => Of {
  const kept = useRef(latest);
  kept.current = latest;
  return useCallback(() => kept.current(), []);
}

const hintOf = (zoom: Range | null): string =>
  zoom === null ? "drag across to zoom" : "double-click to show all";

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

/** The values that are drawn, and their axes; the same objects until the content changes. */
function useDrawn(
  lines: readonly Line[],
  x: Range,
  { log, smoothing }: Display,
): { readonly drawn: readonly Drawn[]; readonly axes: Axes } {
  const drawn = useMemo(
    () => lines.map((line) => ({ line, y: smoothed(line.y, smoothing) })),
    [lines, smoothing],
  );
  const axes = useMemo(() => ({ x, y: yRangeOf(lines, x, log), log }), [lines, x, log]);
  return { drawn, axes };
}

function useLooks(
  lines: readonly Line[],
  emphasised: ReadonlySet<string>,
  highlighted: string | null,
): ReadonlyMap<string, LineStyle> {
  return useMemo(
    () =>
      lineStylesOf(
        lines,
        highlighted === null ? emphasised : new Set([...emphasised, highlighted]),
      ),
    [lines, emphasised, highlighted],
  );
}

type Seen = {
  readonly drawn: readonly Drawn[];
  readonly axes: Axes;
  readonly highlighted: string | null;
  readonly colours: Colours;
};

/** The drawn content of the plot; the same object until the content changes. */
function useView(props: Props, { drawn, axes, highlighted, colours }: Seen): View {
  const { emphasised = nobody, ticks = noTicks } = props;
  const lines = useMemo(
    () => drawnLines(drawn, { emphasised, highlighted }, colours),
    [drawn, emphasised, highlighted, colours],
  );
  return useMemo(
    () => ({ lines, ticks: ticksOf(ticks, colours), x: axes.x, y: axes.y }),
    [lines, colours, ticks, axes],
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
