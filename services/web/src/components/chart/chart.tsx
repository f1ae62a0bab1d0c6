import { type CSSProperties, type JSX, type KeyboardEvent, useMemo, useRef, useState } from "react";
import { type Colours, useColours } from "../../theme/colours.ts";
import { ChartHead } from "./chart-head.tsx";
import styles from "./chart.module.css";
import { ChartTableView } from "./chart-table.tsx";
import { drawnLines } from "./drawn-lines.ts";
import type { Tick } from "./draw.ts";
import { captionOf, type Line } from "./line.ts";
import { lineStyleOf } from "./line-style.ts";
import { nearestLine } from "./nearest.ts";
import type { PlotPoint, View } from "./plot.ts";
import { Readout } from "./readout.tsx";
import { type Range, xRangeOf } from "./scale.ts";
import { smoothings } from "./smooth.ts";
import { usePlot } from "./use-plot.ts";
import { zoomByKey } from "./zoom.ts";

/** An event in the life of a trial, such as the start of a run. */
export type TrialTick = { readonly x: number; readonly trial: number; readonly label: string };

type Props = {
  /** The name of the metric. */
  readonly title: string;
  readonly lines: readonly Line[];
  /** The name of x: step, epoch. */
  readonly xLabel: string;
  /** The x axis is a time, in milliseconds since 1970. */
  readonly time?: boolean;
  /** The x axis counts, so only whole numbers are labelled. */
  readonly whole?: boolean;
  /** The range of x to show; null for all. */
  readonly zoom: Range | null;
  readonly onZoom: (zoom: Range | null) => void;
  /** Trials that keep their hue among many. */
  readonly emphasised?: ReadonlySet<number>;
  readonly ticks?: readonly TrialTick[];
  /** Charts of the same key share their crosshair. */
  readonly syncKey: string;
  readonly onPick?: (trial: number) => void;
  /** Shown instead of the number of points. */
  readonly caption?: string;
  /** The height of the plot and of its table, in pixels. */
  readonly height?: number;
};

const nobody: ReadonlySet<number> = new Set();
const noTicks: readonly TrialTick[] = [];
/** The maximum distance of a selected line from the pointer, as a share of the height. */
const reach = 0.12;

export function Chart(props: Props): JSX.Element {
  const { title, lines, xLabel, time = false, zoom, onZoom, syncKey, onPick, height = 240 } = props;
  const [log, setLog] = useState(false);
  const [step, setStep] = useState(0);
  const [asTable, setAsTable] = useState(false);
  const [point, setPoint] = useState<PlotPoint | null>(null);
  const pressedAt = useRef(0);
  const colours = useColours();
  const smoothing = smoothings[step] ?? 0;
  const all = useMemo(() => xRangeOf(lines) ?? ([0, 1] as const), [lines]);
  const x = zoom ?? all;
  const hovered = useMemo(
    () => (point === null ? null : nearestLine(lines, { ...point, yRange: point.y, log, reach })),
    [lines, point, log],
  );
  const view = useView(props, { x, smoothing, hovered: hovered?.trial ?? null, colours });
  const events = { onPoint: setPoint, onZoom, onReset: () => onZoom(null) };
  const whole = props.whole ?? false;
  const host = usePlot(view, { height, log, time, whole, syncKey, colours }, events);
  const onLog = () => setLog(!log);
  const onSmooth = () => setStep((step + 1) % smoothings.length);
  const onKey = (event: KeyboardEvent): void => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const next = zoomByKey(event.key, x, all);
    if (event.key === "l") onLog();
    else if (event.key === "s") onSmooth();
    else if (next !== undefined) onZoom(next);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <figure className={styles["chart"]} style={{ "--plot": `${height}px` } as CSSProperties}>
      <ChartHead
        {...{ title, onLog, onSmooth }}
        shown={{ log, smoothing, asTable }}
        onTable={() => setAsTable(!asTable)}
        onReset={zoom === null ? undefined : events.onReset}
      />
      <div
        className={styles["plot"]}
        hidden={asTable}
        role="img"
        aria-label={summaryOf(title, lines, xLabel)}
        aria-keyshortcuts="l s"
        tabIndex={0}
        onKeyDown={onKey}
        onPointerDown={({ clientX }) => {
          pressedAt.current = clientX;
        }}
        onClick={({ clientX }) => {
          const dragged = Math.abs(clientX - pressedAt.current) > 3;
          if (!dragged && hovered !== null) onPick?.(hovered.trial);
        }}
      >
        <div ref={host} className={styles["host"]} />
        {point !== null && <Readout {...{ lines, point, time, xLabel, hovered, colours }} />}
      </div>
      {asTable && <ChartTableView lines={lines} range={x} xLabel={xLabel} time={time} />}
      <figcaption>{props.caption ?? captionOf(lines)}</figcaption>
    </figure>
  );
}

type Seen = {
  readonly x: Range;
  readonly smoothing: number;
  readonly hovered: number | null;
  readonly colours: Colours;
};

/** The drawn content of the plot; the same object until the content changes. */
function useView(props: Props, { x, smoothing, hovered, colours }: Seen): View {
  const { lines, emphasised = nobody, ticks = noTicks } = props;
  return useMemo(
    () => ({
      lines: drawnLines(lines, { trials: emphasised, hovered }, smoothing, colours),
      ticks: ticksOf(ticks, colours),
      x,
    }),
    [lines, emphasised, hovered, smoothing, colours, ticks, x],
  );
}

function ticksOf(ticks: readonly TrialTick[], { hues, muted }: Colours): readonly Tick[] {
  return ticks.map(({ x, trial, label }) => ({
    x,
    label,
    colour: hues[(lineStyleOf(trial).hue ?? 0) - 1] ?? muted,
  }));
}

function summaryOf(title: string, lines: readonly Line[], xLabel: string): string {
  const range = xRangeOf(lines);
  const trials = new Set(lines.map(({ trial }) => trial)).size;
  if (range === null) return `${title}: no points`;
  const who = trials === 1 ? "one trial" : `${trials} trials`;
  return `${title} of ${who} over ${xLabel}. The button Table shows the values.`;
}
