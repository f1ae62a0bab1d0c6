import { useMemo } from "react";
import type { LegendEntry } from "./legend.tsx";
import type { Line } from "./line.ts";
import { coloursMax } from "./line-style.ts";

/**
 * The entries of a chart's legend with their last values; null for no legend. If `shown` is absent, all of two to
 * sixteen lines are named, and only the emphasised ones of more.
 */
export function useLegend(
  lines: readonly Line[],
  shown: boolean | undefined,
  emphasised: ReadonlySet<string>,
): readonly LegendEntry[] | null {
  return useMemo(() => {
    if (shown === false) return null;
    const all = lines.map(({ of, label, look, state, y }) => ({
      ...{ id: of, label, look, state },
      value: y.findLast(Number.isFinite),
    }));
    if (shown) return all;
    if (all.length <= coloursMax) return all.length > 1 ? all : null;
    const named = all.filter(({ id }) => emphasised.has(id));
    return named.length > 0 ? named : null;
  }, [lines, shown, emphasised]);
}
