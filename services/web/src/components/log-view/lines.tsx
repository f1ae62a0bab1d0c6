/**
 * The lines of the window; only those in view are in the document. The view keeps its place in the log while pages are
 * added and removed at either end; in a followed log it stays at the end.
 */
import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import {
  type JSX,
  type KeyboardEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
} from "react";
import { LineRow, type RowOptions } from "./line-row.tsx";
import styles from "./log-view.module.css";
import type { ShownLine } from "./progress-bars.ts";
import type { Log } from "./use-log.ts";

/** In pixels: the smallest size of a pressed target (WCAG 2.2). */
const lineHeight = 24;
/** The next page is read at this distance from an end of the window. */
const readAheadPx = 2_000;

type Props = {
  readonly label: string;
  readonly log: Log;
  readonly rows: readonly ShownLine[];
  readonly look: RowOptions;
  readonly isChosen: (cursor: string) => boolean;
};

export function Lines({ label, log, rows, look, isChosen }: Props): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const keyOf = useCallback((index: number) => rows[index]?.line.cursor ?? index, [rows]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    getItemKey: keyOf,
    overscan: 8,
  });
  useEffect(() => virtual.measure(), [virtual, look.wrap]);
  const onScroll = usePlace(log, rows, virtual, scroller.current);
  const shown = virtual.getVirtualItems();
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (event.key === "Home") void log.reader.open("start");
    else if (event.key === "End") log.reader.follow();
    else return;
    event.preventDefault();
  };
  return (
    <div
      ref={scroller}
      role="region"
      aria-label={label}
      aria-busy={log.state.reading !== null}
      // Without a tab index the keyboard cannot scroll.
      tabIndex={0}
      className={styles["scroller"]}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <div className={styles["all"]} style={{ height: virtual.getTotalSize() }}>
        <div
          className={styles["shown"]}
          data-wrap={look.wrap}
          style={{ transform: `translateY(${shown[0]?.start ?? 0}px)` }}
        >
          {shown.map(({ index, key }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <LineRow
                key={key}
                {...row}
                {...{ index, look }}
                chosen={isChosen(row.line.cursor)}
                measure={look.wrap ? virtual.measureElement : undefined}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

type Scroller = HTMLDivElement | null;

/** Keeps the view at its place, and reads the next page near an end. */
function usePlace(
  log: Log,
  rows: readonly ShownLine[],
  virtual: Virtualizer<HTMLDivElement, Element>,
  element: Scroller,
): () => void {
  const { reader, state } = log;
  const { place } = state;
  const last = useRef({ top: 0, height: 0 });
  // The first line in view, and how far it is scrolled out of view.
  const anchor = useRef({ cursor: "", offset: 0, first: "" });
  const isOpening = state.reading === "all";
  const height = virtual.getTotalSize();

  const note = (): void => {
    if (element === null) return;
    last.current = { top: element.scrollTop, height: element.scrollHeight };
    const item = virtual.getVirtualItemForOffset(element.scrollTop);
    const cursor = item === undefined ? "" : (rows[item.index]?.line.cursor ?? "");
    const offset = element.scrollTop - (item?.start ?? 0);
    anchor.current = { cursor, offset, first: rows[0]?.line.cursor ?? "" };
  };

  useLayoutEffect(() => {
    if (element === null) return;
    if (state.following) {
      element.scrollTop = element.scrollHeight;
    } else if (!isOpening && anchor.current.first !== rows[0]?.line.cursor) {
      const index = rows.findIndex(({ line }) => line.cursor === anchor.current.cursor);
      const start = virtual.measurementsCache[index]?.start;
      if (start !== undefined) element.scrollTop = start + anchor.current.offset;
    }
    note();
  }, [rows, height, state.following]);

  useLayoutEffect(() => {
    if (isOpening || place === "end" || rows.length === 0) return;
    const at =
      place === "start"
        ? 0
        : rows.findIndex(({ line }) => Number(line.cursor) >= Number(place.cursor));
    virtual.scrollToIndex(Math.max(0, at), { align: place === "start" ? "start" : "center" });
  }, [isOpening, place]);

  const readNear = useReadNear(log, element, height);
  return () => {
    if (element === null) return;
    const { top, height: before } = last.current;
    const below = element.scrollHeight - element.clientHeight - element.scrollTop;
    const isSame = element.scrollHeight === before;
    if (state.following && isSame && element.scrollTop < top - 1) reader.stopFollowing();
    else if (!state.following && state.window.atEnd && below < 4 && element.scrollTop > top) {
      reader.follow();
    }
    note();
    readNear();
  };
}

/** Reads the next page if the view is near an end of the window, or if the window does not fill the view. */
function useReadNear({ reader, state }: Log, element: Scroller, height: number): () => void {
  // A window that is smaller than the view cannot be scrolled, so more lines are read.
  useEffect(() => {
    if (element === null || state.reading !== null || state.problem !== null) return;
    if (height >= element.clientHeight) return;
    if (state.window.older !== null) void reader.readOlder();
    else void reader.readNewer();
  });
  return () => {
    if (element === null || state.reading === "all") return;
    const below = element.scrollHeight - element.clientHeight - element.scrollTop;
    if (element.scrollTop < readAheadPx) void reader.readOlder();
    else if (below < readAheadPx) void reader.readNewer();
  };
}
