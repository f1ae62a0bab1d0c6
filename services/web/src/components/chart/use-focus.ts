import { useMemo, useState } from "react";
import type { Line } from "./line.ts";

/** The trials that the user looks at: charts and legends of one page can share them. */
export type FocusProps = {
  /** The trial under the pointer, here or in another chart; absent: the chart keeps it for itself. */
  readonly highlighted?: string | null;
  readonly onHighlight?: (id: string | null) => void;
  /** The trials that alone are drawn; empty for all. Absent: the chart keeps them for itself. */
  readonly isolated?: ReadonlySet<string>;
  readonly onIsolate?: (ids: ReadonlySet<string>) => void;
};

export type Focus = Required<FocusProps>;

export const nobody: ReadonlySet<string> = new Set();

/** Returns what is highlighted and isolated: the page's, or the chart's own where the page has none. */
export function useFocus(props: FocusProps = {}): Focus {
  const [ownHighlighted, setHighlighted] = useState<string | null>(null);
  const [ownIsolated, setIsolated] = useState(nobody);
  const {
    highlighted = ownHighlighted,
    onHighlight = setHighlighted,
    isolated = ownIsolated,
    onIsolate = setIsolated,
  } = props;
  return { highlighted, onHighlight, isolated, onIsolate };
}

/** The lines that are drawn: the isolated ones if there are any. */
export function useIsolated(
  lines: readonly Line[],
  isolated: ReadonlySet<string>,
): readonly Line[] {
  return useMemo(
    () => (isolated.size === 0 ? lines : lines.filter(({ of }) => isolated.has(of))),
    [lines, isolated],
  );
}

/**
 * The isolated trials after a click on one: it alone, or all if it was alone. `more` adds it to the isolated ones, or
 * removes it.
 */
export function isolatedAfter(
  isolated: ReadonlySet<string>,
  id: string,
  more: boolean,
): ReadonlySet<string> {
  if (!more) return isolated.size === 1 && isolated.has(id) ? nobody : new Set([id]);
  const next = new Set(isolated);
  if (!next.delete(id)) next.add(id);
  return next;
}
