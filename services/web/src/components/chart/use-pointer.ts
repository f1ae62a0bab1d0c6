import { useState } from "react";
import type { Drawn } from "./nearest.ts";
import type { PlotPoint } from "./plot.ts";
import { type Axes, lineUnder, reach } from "./points-at.ts";
import type { Focus } from "./use-focus.ts";

export type Pointed = {
  /** The place of the pointer; null if it is outside of the charts. */
  readonly pointer: PlotPoint | null;
  /** Another chart has the pointer: this one shows the same x. */
  readonly isElsewhere: boolean;
  readonly onPoint: (point: PlotPoint | null) => void;
};

/** Follows the pointer, and highlights the line under it. */
export function usePointer(drawn: readonly Drawn[], axes: Axes, focus: Focus): Pointed {
  const [pointer, setPointer] = useState<PlotPoint | null>(null);
  const isElsewhere = pointer !== null && Number.isNaN(pointer.yShare);
  const onPoint = (point: PlotPoint | null): void => {
    // The event of a resting pointer is repeated whenever the chart, or the page below it, has changed.
    if (isSame(point, pointer)) return;
    setPointer(point);
    // A crosshair that another chart moves highlights nothing here.
    if (point === null ? isElsewhere : Number.isNaN(point.yShare)) return;
    const under = point === null ? null : lineUnder(drawn, point, axes, reach);
    focus.onHighlight(under?.line.of ?? null);
  };
  return { pointer, isElsewhere, onPoint };
}

function isSame(one: PlotPoint | null, other: PlotPoint | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    Object.is(one.xShare, other.xShare) &&
    Object.is(one.yShare, other.yShare) &&
    one.corner.x === other.corner.x &&
    one.corner.y === other.corner.y &&
    one.area.width === other.area.width &&
    one.area.height === other.area.height &&
    one.window.width === other.window.width &&
    one.window.height === other.window.height
  );
}
