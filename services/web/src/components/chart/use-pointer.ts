import { useMemo, useState } from "react";
import type { Drawn } from "./nearest.ts";
import type { PlotPoint } from "./plot.ts";
import { type Axes, lineUnder, type PointsAt, pointsAt } from "./points-at.ts";
import type { Focus } from "./use-focus.ts";

export type Pointed = {
  /** Where the pointer is; null if it is elsewhere, or after the points were lost. */
  readonly pointer: PlotPoint | null;
  readonly at: PointsAt | null;
  /** Another chart has the pointer: this one shows the same x. */
  readonly isElsewhere: boolean;
  readonly onPoint: (point: PlotPoint | null) => void;
};

/** The maximum distance of a highlighted line from the pointer, as a share of the height. */
const reach = 0.12;

/** The points at the pointer. They follow the axes: a chart that is moved under a resting pointer has others there. */
export function usePointer(drawn: readonly Drawn[], axes: Axes, focus: Focus): Pointed {
  const [pointer, setPointer] = useState<PlotPoint | null>(null);
  const at = useMemo(
    () => (pointer === null ? null : pointsAt(drawn, pointer, axes, reach)),
    [drawn, pointer, axes],
  );
  const isElsewhere = pointer !== null && Number.isNaN(pointer.yShare);
  const onPoint = (point: PlotPoint | null): void => {
    setPointer(point);
    // A crosshair that another chart moves highlights nothing here.
    if (point !== null && Number.isNaN(point.yShare)) return;
    if (point === null && (isElsewhere || pointer === null)) return;
    const under = point === null ? null : lineUnder(drawn, point, axes, reach);
    focus.onHighlight(under?.line.of ?? null);
  };
  return { pointer, at, isElsewhere, onPoint };
}
