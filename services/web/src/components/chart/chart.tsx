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
import { Crosshair } from "./crosshair.tsx";
import { drawnLines } from "./drawn-lines.ts";
import type { Tick } from "./draw.ts";
import { Legend, type LegendEntry } from "./legend.tsx";
import { captionOf, type Line } from "./line.ts";
import { coloursMax, type LineStyle, lineStyleOf, lineStylesOf } from "./line-style.ts";
import type { Drawn } from "./nearest.ts";
import type { View } from "./plot.ts";
import type { Axes, PointOf, PointsAt } from "./points-at.ts";
import { type Range, xRangeOf, yRangeOf } from "./scale.ts";
import { smoothed } from "./smooth.ts";
import { Tooltip } from "./tooltip.tsx";
import { type Display, type DisplayProps, useDisplay } from "./use-display.ts";
import { type Focus, type FocusProps, nobody, useFocus, useIsolated } from "./use-focus.ts";
import { usePlot } from "./use-plot.ts";
import { usePointer } from "./use-pointer.ts";
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
  const { pointer, at, isElsewhere, onPoint } = usePointer(drawn, axes, focus);
  const onReset = useStable(() => onZoom(null));
  const events = { onPoint, onZoom, onReset };
  const shape = { height, log, time, whole, xTitle, yTitle, syncKey, colours };
  const host = usePlot(view, shape, events);
  const looks = useLooks(props.lines, emphasised, highlighted);
  const shown = useStable(() => ({ xTitle, lines, x, looks, colours }));
  const pointed = at === null || pointer === null ? null : { at, pointer, looks, colours };
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
        {pointed !== null && <Crosshair {...pointed} />}
        {pointed !== null && !isElsewhere && (
          <Tooltip {...pointed} {...{ host, xTitle, time, highlighted }} />
        )}
      </div>
      {asTable && <ChartTableView lines={lines} range={x} xTitle={xTitle} time={time} />}
      <LegendOf {...{ focus, emphasised, at }} lines={props.lines} shown={props.legend} />
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

type LegendProps = {
  readonly lines: readonly Line[];
  readonly shown: boolean | undefined;
  readonly focus: Focus;
  readonly emphasised: ReadonlySet<string>;
  readonly at: PointsAt | null;
};

function LegendOf({ lines, shown, focus, emphasised, at }: LegendProps): JSX.Element | null {
  const points = at?.points;
  const all = useMemo(() => entriesOf(lines, points), [lines, points]);
  // Beyond sixteen lines only those that have a hue are named.
  const isLong = shown === undefined && all.length > coloursMax;
  const entries = isLong ? all.filter(({ id }) => emphasised.has(id)) : all;
  const isShown = shown ?? (isLong ? entries.length > 0 : all.length > 1);
  return isShown ? <Legend {...{ entries, emphasised }} {...focus} /> : null;
}

/** The lines with their values at the pointer, or their last ones. */
function entriesOf(
  lines: readonly Line[],
  points: readonly PointOf[] | undefined,
): readonly LegendEntry[] {
  const values = new Map(points?.map(({ line, index }) => [line.id, line.y[index]]));
  return lines.map(({ id, of, label, look, state, y }) => ({
    ...{ id: of, label, look, state },
    value: points === undefined ? y.findLast(Number.isFinite) : values.get(id),
  }));
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
