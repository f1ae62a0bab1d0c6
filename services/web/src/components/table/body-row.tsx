import type { CSSProperties, JSX, MouseEvent, ReactNode } from "react";
import type { PlacedColumn } from "./columns.ts";
import styles from "./table.module.css";

type Props<Row> = {
  readonly elementId: string;
  readonly row: Row;
  readonly index: number;
  readonly top: number;
  readonly height: number;
  readonly width: number;
  readonly placed: readonly PlacedColumn<Row>[];
  readonly active: boolean;
  readonly selected: boolean;
  readonly selectable: boolean;
  /** The list does not have the row any more. */
  readonly gone: boolean;
  readonly onPress: (shift: boolean) => void;
  readonly onCheck: (shift: boolean) => void;
  readonly onOpen?: (row: Row) => void;
};

export function BodyRow<Row>(props: Props<Row>): JSX.Element {
  const { row, placed, active, selected, selectable, onPress, onOpen } = props;
  const position = { top: props.top, height: props.height, width: props.width };
  return (
    <div
      id={props.elementId}
      role="row"
      className={styles["row"]}
      style={position}
      aria-rowindex={props.index + 2}
      {...(selectable ? { "aria-selected": selected } : {})}
      data-active={active}
      data-gone={props.gone}
      onClick={(event) => isOfRow(event) && onPress(event.shiftKey)}
      onDoubleClick={(event) => isOfRow(event) && onOpen?.(row)}
    >
      {selectable && <Check {...props} />}
      {placed.map((one, at) => (
        <div
          key={one.column.id}
          role="gridcell"
          aria-colindex={at + 1 + Number(selectable)}
          className={cellClass(one)}
          style={cellStyle(one)}
        >
          {cut(one.column.cell(row))}
        </div>
      ))}
    </div>
  );
}

/** A text that is longer than its column ends in an ellipsis: a cut number must not look whole. */
function cut(content: ReactNode): ReactNode {
  const isText = typeof content === "string" || typeof content === "number";
  return isText ? <span title={String(content)}>{content}</span> : content;
}

function Check<Row>({ selected, onCheck }: Props<Row>): JSX.Element {
  return (
    <div
      role="gridcell"
      aria-colindex={1}
      className={styles["check"]}
      onClick={(event) => {
        event.stopPropagation();
        onCheck(event.shiftKey);
      }}
    >
      <span className={styles["box"]} data-checked={selected} aria-hidden />
      <span className="visually-hidden">{selected ? "selected" : "not selected"}</span>
    </div>
  );
}

/** Links and buttons in a cell handle their own clicks. */
const isOfRow = (event: MouseEvent): boolean =>
  !(event.target instanceof Element && event.target.closest("a, button, input") !== null);

export function cellStyle({ left, width, pinned }: PlacedColumn<never>): CSSProperties {
  return { left: pinned ? left : undefined, width };
}

export function cellClass({ column, pinned }: PlacedColumn<never>): string {
  const { right = false, mono = false } = column;
  const names = [
    styles["cell"],
    right ? styles["right"] : undefined,
    mono ? styles["mono"] : undefined,
    pinned ? styles["pinned"] : undefined,
  ];
  return names.filter((name) => name !== undefined).join(" ");
}
