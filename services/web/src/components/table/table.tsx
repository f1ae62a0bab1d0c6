/**
 * A grid of rows of equal height; only those in view are in the document. The focus is on the grid; the row that keys
 * move is its active descendant. Rows are loaded in pages: `onEnd` is called when the last ones come into view.
 *
 * Nothing moves under the pointer: while the pointer or the focus is in the table, its order is fixed (`useHeld`). The
 * foot, of one height, says what is held back and has the actions on the selected rows. An error is drawn over rows.
 */
import { useVirtualizer, type VirtualItem, type Virtualizer } from "@tanstack/react-virtual";
import {
  type JSX,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import {
  type Column,
  type ColumnLayout,
  fittedLayout,
  type PlacedColumn,
  placeColumns,
  type Room,
  widthOf,
} from "./columns.ts";
import { HeldNote } from "../held/held-note.tsx";
import { useHeld, useInUse } from "../held/use-held.ts";
import { OverNote } from "../over-note.tsx";
import { Loading, SkeletonRows } from "../skeleton.tsx";
import { HeaderRow } from "./header-row.tsx";
import { HiddenNote } from "./hidden-note.tsx";
import { BodyRow } from "./body-row.tsx";
import { movedTo, noSelection, type Selection, toggled, withRange } from "./selection.ts";
import type { Sort } from "./sort.ts";
import styles from "./table.module.css";
import { useWidth } from "./use-width.ts";

export type TableProps<Row> = {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly layout: ColumnLayout;
  /** Called for a column whose width was dragged, and to show hidden columns. */
  readonly onLayout?: (layout: ColumnLayout) => void;
  /** Columns that are hidden where the table is too narrow for all, the least important first; absent: it scrolls. */
  readonly giveWay?: readonly string[] | undefined;
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  /** The number of rows of the whole list; absent while it is unknown. */
  readonly total?: number | undefined;
  /** Called when the last rows are in view: load more, if there are more. */
  readonly onEnd?: () => void;
  readonly sort?: Sort | null;
  readonly onSort?: (field: string) => void;
  readonly selection?: Selection;
  /** Called when the selection changes; without it rows cannot be selected. */
  readonly onSelect?: (selection: Selection) => void;
  /** Called for Enter or a double click on a row. */
  readonly onOpen?: (row: Row) => void;
  /** Called for another key on a row. Returns whether it handled the key. */
  readonly onKey?: (key: string, row: Row) => boolean;
  /** Called when a row is clicked or focused by the keyboard: for an inspector. */
  readonly onActive?: (row: Row) => void;
  /** The row that the inspector shows. */
  readonly activeId?: string | undefined;
  readonly compact?: boolean;
  /** Shown instead of rows if there are none. */
  readonly empty?: ReactNode;
  /** The table takes the focus when it appears. */
  readonly autoFocus?: boolean;
  /** The first rows are being read. */
  readonly pending?: boolean;
  /** Names the filter and the order of the rows; null while the rows are still those of the previous ones. */
  readonly list?: string | null;
  /** The error of the list; the loaded rows stay. */
  readonly error?: unknown;
  readonly onRetry?: () => void;
  /** In the foot: the number of rows. */
  readonly status?: ReactNode;
  /** In the foot: the actions on the selected rows. */
  readonly actions?: ReactNode;
};

const none: readonly string[] = [];
const checkWidth = 32;
const headerHeight = 32;
const skeletonRows = 12;

export function Table<Row>(given: TableProps<Row>): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const grid = useRef<HTMLDivElement>(null);
  const held = useHeld(given.rows, given.idOf, useInUse(place), given.list);
  const room = { from: given.onSelect === undefined ? 0 : checkWidth, width: useWidth(grid) };
  const { columns, giveWay = none } = given;
  const { layout, hidden } = fittedLayout(columns, given.layout, giveWay, room);
  const props = { ...given, layout, rows: held.rows };
  const height = props.compact === true ? 28 : 32;
  const isEmpty = props.rows.length === 0;
  const hasError = props.error !== null && props.error !== undefined;
  return (
    <div ref={place} className={styles["table"]}>
      <div className={styles["area"]}>
        <Grid {...props} {...{ grid, room, height }} gone={held.gone} />
        {isEmpty && !hasError && (
          <div className={styles["empty"]}>
            {props.pending === true ? (
              <Loading label={props.label}>
                <SkeletonRows rows={skeletonRows} height={height} />
              </Loading>
            ) : (
              props.empty
            )}
          </div>
        )}
        <OverNote error={props.error} onRetry={props.onRetry} alone={isEmpty} />
      </div>
      <footer className={styles["foot"]} data-tall={props.onSelect !== undefined}>
        {/* Not only while rows are selected: a status is read out when its text changes. */}
        <span className={styles["status"]} role="status">
          {props.status}
        </span>
        <HiddenNote hidden={hidden} layout={given.layout} onLayout={given.onLayout} />
        <HeldNote held={held} onShow={held.show} />
        {props.actions}
      </footer>
    </div>
  );
}

type GridProps<Row> = TableProps<Row> & {
  readonly grid: RefObject<HTMLDivElement | null>;
  readonly room: Room;
  readonly gone: ReadonlySet<string>;
  readonly height: number;
};

function Grid<Row>(props: GridProps<Row>): JSX.Element {
  const { columns, layout, rows, total, height, grid, room } = props;
  const { onSelect, onEnd, autoFocus = false } = props;
  const id = useId();
  const placed = placeColumns(columns, layout, room);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => grid.current,
    estimateSize: () => height,
    overscan: 8,
    scrollPaddingStart: headerHeight,
    getItemKey: (index) => idAt(props, index),
  });
  useEffect(() => virtual.measure(), [height, virtual]);
  useEffect(() => {
    if (autoFocus) grid.current?.focus({ preventScroll: true });
  }, [autoFocus, grid]);

  const keys = useKeys(props, virtual, height);
  const { active } = keys;
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? -1;
  useEffect(() => {
    if (last >= rows.length - 20) onEnd?.();
  }, [last, rows.length, onEnd]);

  const size = { width: widthOf(placed, room.from), height: virtual.getTotalSize() };
  return (
    <div
      ref={grid}
      role="grid"
      tabIndex={0}
      className={styles["grid"]}
      aria-label={props.label}
      aria-rowcount={total === undefined ? -1 : total + 1}
      aria-colcount={placed.length + Number(onSelect !== undefined)}
      aria-multiselectable={onSelect !== undefined}
      aria-activedescendant={
        shown.some(({ index }) => index === active) ? `${id}-${active}` : undefined
      }
      onKeyDown={keys.onKeyDown}
    >
      <HeaderRow {...props} {...{ placed, room }} width={size.width} />
      <div role="rowgroup" className={styles["body"]} style={size}>
        <Rows {...props} {...{ id, placed, active, keys }} width={size.width} shown={shown} />
      </div>
    </div>
  );
}

type RowsProps<Row> = GridProps<Row> & {
  readonly id: string;
  readonly placed: readonly PlacedColumn<Row>[];
  readonly active: number;
  readonly width: number;
  readonly keys: Pick<ReturnType<typeof useKeys>, "press" | "check">;
  readonly shown: readonly VirtualItem[];
};

function Rows<Row>(props: RowsProps<Row>): readonly (JSX.Element | null)[] {
  const { rows, idOf, gone, selection = noSelection, onSelect, onOpen, keys } = props;
  const { id, placed, active, height, width, shown } = props;
  return shown.map(({ index, start }) => {
    const row = rows[index];
    if (row === undefined) return null;
    const own = idOf(row);
    return (
      <BodyRow
        key={own}
        elementId={`${id}-${index}`}
        {...{ row, index, height, width, placed }}
        top={start}
        active={index === active}
        selected={selection.has(own)}
        gone={gone.has(own)}
        selectable={onSelect !== undefined}
        onPress={(shift) => keys.press(index, shift)}
        onCheck={(shift) => keys.check(index, shift)}
        {...(onOpen === undefined ? {} : { onOpen })}
      />
    );
  });
}

const idAt = <Row,>({ rows, idOf }: TableProps<Row>, index: number): string | number => {
  const row = rows[index];
  return row === undefined ? index : idOf(row);
};

/** Time that the keyboard must rest on a row before the URL changes, so that quick keys change it once. */
const restMs = 120;

/**
 * The active row, by its id, since rows are added and removed. The table owns it and reports it to the page. The page's
 * value replaces it only when that value changes: at the start, and on a navigation back.
 */
function useActive<Row>({ rows, idOf, activeId, onActive }: TableProps<Row>) {
  const [id, setId] = useState(activeId);
  const told = useRef(activeId);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    if (activeId === told.current) return;
    told.current = activeId;
    setId(activeId);
  }, [activeId]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const activate = (index: number, afterMs: number): void => {
    const row = rows[index];
    if (row === undefined) return;
    setId(idOf(row));
    clearTimeout(timer.current);
    if (onActive === undefined) return;
    timer.current = setTimeout(() => {
      told.current = idOf(row);
      onActive(row);
    }, afterMs);
  };
  const active = id === undefined ? -1 : rows.findIndex((row) => idOf(row) === id);
  /** Called before a row is opened: a pending change of the URL would undo the navigation. */
  const leave = (): void => clearTimeout(timer.current);
  return { active, activate, leave };
}

/** Moves, selects and opens rows, by keys and by the pointer. */
function useKeys<Row>(
  props: TableProps<Row>,
  virtual: Virtualizer<HTMLDivElement, Element>,
  height: number,
) {
  const { rows, idOf, selection = noSelection, onSelect, onOpen } = props;
  const { active, activate, leave } = useActive(props);
  const anchor = useRef(-1);
  const check = (index: number, shift: boolean): void => {
    const row = rows[index];
    if (row === undefined || onSelect === undefined) return;
    const ids = rows.map(idOf);
    const ranged = shift && anchor.current >= 0;
    onSelect(
      ranged ? withRange(selection, ids, anchor.current, index) : toggled(selection, idOf(row)),
    );
    anchor.current = index;
    activate(index, restMs);
  };
  const press = (index: number, shift: boolean): void => {
    if (shift && onSelect !== undefined) check(index, true);
    else activate(index, 0);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    // The grid ignores keys in a cell's field and the browser's shortcuts.
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey)
      return;
    const page = Math.max(1, Math.floor(event.currentTarget.clientHeight / height) - 2);
    const next = movedTo(event.key, active, rows.length, page);
    const row = rows[active];
    if (next !== null) {
      activate(next, restMs);
      virtual.scrollToIndex(next);
    } else if ((event.key === "x" || event.key === " ") && row !== undefined) {
      check(active, event.shiftKey);
    } else if (event.key === "Enter" && row !== undefined) {
      leave();
      onOpen?.(row);
    } else if (row === undefined || props.onKey?.(event.key, row) !== true) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return { active, onKeyDown, press, check };
}
