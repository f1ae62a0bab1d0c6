import { ChartLine, RotateCcw, Sheet } from "lucide-react";
import { type JSX, type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { type Colours, useColours } from "../../theme/colours.ts";
import styles from "./chart.module.css";
import { ChartTableView } from "./chart-table.tsx";
import { drawnLines } from "./drawn-lines.ts";
import type { Tick } from "./draw.ts";
import { captionOf, type Line } from "./line.ts";
import { lookOf } from "./look.ts";
import { nearestLine } from "./nearest.ts";
import { Plot, type PlotEvents, type PlotPoint, type View } from "./plot.ts";
import { Readout } from "./readout.tsx";
import { type Range, xRangeOf } from "./scale.ts";
import { smoothings } from "./smooth.ts";
import { zoomByKey } from "./zoom.ts";

/** A moment in the life of a trial, such as the start of a run. */
export type TrialTick = { readonly x: number; readonly trial: number; readonly label: string };

type Props = {
  /** The name of the metric. */
  readonly title: string;
  readonly lines: readonly Line[];
  /** The name of x: step, epoch. */
  readonly xLabel: string;
  /** x is milliseconds since 1970. */
  readonly time?: boolean;
  /** The range of x to show; null for all. */
  readonly zoom: Range | null;
  readonly onZoom: (zoom: Range | null) => void;
  /** Trials that keep their hue among many. */
  readonly emphasised?: ReadonlySet<number>;
  readonly ticks?: readonly TrialTick[];
  /** Charts of the same key share their crosshair. */
  readonly syncKey: string;
  readonly onPick?: (trial: number) => void;
};

const nobody: ReadonlySet<number> = new Set();
const noTicks: readonly TrialTick[] = [];
const plotHeight = 240;
/** A share of the height: lines further from the pointer are not meant. */
const reach = 0.12;

export function Chart(props: Props): JSX.Element {
  const { title, lines, xLabel, time = false, zoom, onZoom, syncKey, onPick } = props;
  const { emphasised = nobody, ticks = noTicks } = props;
  const [log, setLog] = useState(false);
  const [smoothing, setSmoothing] = useState(0);
  const [asTable, setAsTable] = useState(false);
  const [point, setPoint] = useState<PlotPoint | null>(null);
  const colours = useColours();
  const weight = smoothings[smoothing] ?? 0;
  const all = useMemo(() => xRangeOf(lines) ?? ([0, 1] as const), [lines]);
  const shown = zoom ?? all;
  const hovered = useMemo(
    () => (point === null ? null : nearestLine(lines, { ...point, yRange: point.y, log, reach })),
    [lines, point, log],
  );
  const hoveredTrial = hovered?.trial ?? null;
  const view = useMemo(
    (): View => ({
      lines: drawnLines(lines, { trials: emphasised, hovered: hoveredTrial }, weight, colours),
      ticks: ticksOf(ticks, colours),
      x: shown,
    }),
    [lines, emphasised, hoveredTrial, weight, colours, ticks, shown],
  );
  const host = usePlot(
    view,
    { log, time, syncKey, colours },
    {
      onPoint: setPoint,
      onZoom,
      onReset: () => onZoom(null),
    },
  );
  const nextSmoothing = () => setSmoothing((smoothing + 1) % smoothings.length);
  const onKey = (event: KeyboardEvent): void => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.key === "l") setLog(!log);
    else if (event.key === "s") nextSmoothing();
    else {
      const next = zoomByKey(event.key, shown, all);
      if (next === undefined) return;
      onZoom(next);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <figure className={styles["chart"]}>
      <div className={styles["head"]}>
        <h3 className={styles["title"]}>{title}</h3>
        {zoom !== null && (
          <button type="button" onClick={() => onZoom(null)}>
            <RotateCcw size={12} aria-hidden /> Show all
          </button>
        )}
        <button type="button" aria-pressed={log} onClick={() => setLog(!log)} title="Key l">
          Log
        </button>
        <button type="button" aria-pressed={weight > 0} onClick={nextSmoothing} title="Key s">
          Smooth{weight > 0 && ` ${weight}`}
        </button>
        <button type="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? <ChartLine size={12} aria-hidden /> : <Sheet size={12} aria-hidden />}
          {asTable ? "Chart" : "Table"}
        </button>
      </div>
      <div
        className={styles["plot"]}
        hidden={asTable}
        role="img"
        aria-label={summaryOf(title, lines, xLabel)}
        aria-keyshortcuts="l s"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- keys zoom and switch the scale
        tabIndex={0}
        onKeyDown={onKey}
        onClick={() => hovered !== null && onPick?.(hovered.trial)}
      >
        <div ref={host} className={styles["host"]} />
        {point !== null && (
          <Readout
            lines={lines}
            point={point}
            time={time}
            xLabel={xLabel}
            hovered={hovered}
            colours={colours}
          />
        )}
      </div>
      {asTable && <ChartTableView lines={lines} range={shown} xLabel={xLabel} time={time} />}
      <figcaption>{captionOf(lines)}</figcaption>
    </figure>
  );
}

/** Keeps one plot for the element that the answer is the ref of; options that change make another one. */
function usePlot(
  view: View,
  options: { log: boolean; time: boolean; syncKey: string; colours: Colours },
  events: PlotEvents,
) {
  const { log, time, syncKey, colours } = options;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const latest = useRef({ view, events });
  latest.current = { view, events };
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const width = Math.max(element.clientWidth, 40);
    const made = new Plot(
      element,
      { width, height: plotHeight, log, time, syncKey, colours },
      {
        onPoint: (point) => latest.current.events.onPoint(point),
        onZoom: (range) => latest.current.events.onZoom(range),
        onReset: () => latest.current.events.onReset(),
      },
    );
    made.show(latest.current.view);
    plot.current = made;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) made.resize(element.clientWidth, plotHeight);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [log, time, syncKey, colours]);
  useEffect(() => plot.current?.show(view), [view]);
  return host;
}

function ticksOf(ticks: readonly TrialTick[], { hues, muted }: Colours): readonly Tick[] {
  return ticks.map(({ x, trial, label }) => ({
    x,
    label,
    colour: hues[(lookOf(trial).hue ?? 0) - 1] ?? muted,
  }));
}

function summaryOf(title: string, lines: readonly Line[], xLabel: string): string {
  const range = xRangeOf(lines);
  const trials = new Set(lines.map(({ trial }) => trial)).size;
  if (range === null) return `${title}: no points`;
  const who = trials === 1 ? "one trial" : `${trials} trials`;
  return `${title} of ${who} over ${xLabel}. The button Table shows the values.`;
}
