import { type RefObject, useCallback, useEffect, useRef } from "react";
import { number } from "../format.ts";
import styles from "./chart.module.css";
import type { LegendEntry } from "./legend.tsx";
import type { Drawn } from "./nearest.ts";
import type { PlotPoint } from "./plot.ts";
import { pointedOf, type TooltipOptions } from "./pointed.ts";
import { PointerLayer, write } from "./pointer-layer.ts";
import { type Axes, type PointsAt, pointsAt, reach } from "./points-at.ts";

/** A chart that is moved under a resting pointer has its readout again after this time, and once more at rest. */
const followMs = 50;

type Readout = Omit<TooltipOptions, "highlighted"> & {
  readonly highlighted: string | null;
  readonly pointer: PlotPoint | null;
  readonly drawn: readonly Drawn[];
  readonly axes: Axes;
  readonly entries: readonly LegendEntry[] | null;
};

type ReadoutRefs = {
  /** The element that gets the crosshair and the tooltip. */
  readonly layer: RefObject<HTMLDivElement | null>;
  readonly legend: RefObject<HTMLUListElement | null>;
};

/**
 * Shows the points at the pointer: the crosshair, the tooltip, and the values of the legend. They are written by hand,
 * because they change with each move of the pointer and of the chart. It is called after `usePlot`, because a text that
 * is drawn on a canvas first lays out what was written before.
 */
export function useReadout(readout: Readout): ReadoutRefs {
  const host = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const layer = useRef<PointerLayer | null>(null);
  const latest = useRef(readout);
  latest.current = readout;
  const show = useCallback(() => {
    const { pointer, drawn, axes, entries, ...options } = latest.current;
    const at = pointer === null ? null : pointsAt(drawn, pointer, axes, reach);
    if (layer.current === null && (at === null || host.current === null)) return;
    layer.current ??= new PointerLayer(host.current as HTMLDivElement, layerStyles());
    layer.current.show(at === null || pointer === null ? null : pointedOf(at, pointer, options));
    writeValues(legend.current, entries, at);
  }, []);
  const { pointer, drawn, axes, entries, highlighted, looks, colours } = readout;
  useEffect(show, [show, pointer, drawn, entries, highlighted, looks, colours]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      show();
    }, followMs);
  }, [show, axes]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
      layer.current?.destroy();
      layer.current = null;
    },
    [],
  );
  return { layer: host, legend };
}

function writeValues(
  list: HTMLUListElement | null,
  entries: readonly LegendEntry[] | null,
  at: PointsAt | null,
): void {
  const values = new Map(at?.points.map(({ line, index }) => [line.of, line.y[index]]));
  for (const [place, { id, value }] of (entries ?? []).entries()) {
    const cell = list?.children[place]?.querySelector("b");
    if (cell) write(cell, number(at === null ? value : values.get(id)));
  }
}

const layerStyles = () => ({
  crosshair: styles["crosshair"] ?? "",
  tooltip: styles["tooltip"] ?? "",
  head: styles["tooltipHead"] ?? "",
  name: styles["name"] ?? "",
  swatch: styles["swatch"] ?? "",
});
