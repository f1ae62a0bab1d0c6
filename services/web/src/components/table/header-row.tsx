import { ArrowDown, ArrowUp } from "lucide-react";
import { type JSX, type PointerEvent, useState } from "react";
import { cellClass, cellStyle } from "./body-row.tsx";
import { type PlacedColumn, type Room, withWidth } from "./columns.ts";
import { noSelection, type Selection } from "./selection.ts";
import type { TableProps } from "./table.tsx";
import styles from "./table.module.css";

type Props<Row> = TableProps<Row> & {
  readonly placed: readonly PlacedColumn<Row>[];
  readonly room: Room;
  readonly width: number;
};

export function HeaderRow<Row>(props: Props<Row>): JSX.Element {
  const { placed, width, onSelect } = props;
  return (
    <div role="rowgroup" className={styles["head"]} style={{ width }}>
      <div role="row" aria-rowindex={1} className={styles["headRow"]}>
        {onSelect !== undefined && <CheckAll {...props} onSelect={onSelect} />}
        {placed.map((one, at) => (
          <HeaderCell
            key={one.column.id}
            {...props}
            one={one}
            at={at + 1 + Number(onSelect !== undefined)}
          />
        ))}
      </div>
    </div>
  );
}

/** Selects the loaded rows: those that the user can have seen. */
function CheckAll<Row>({
  rows,
  idOf,
  selection = noSelection,
  onSelect,
}: TableProps<Row> & { readonly onSelect: (selection: Selection) => void }): JSX.Element {
  const all = rows.length > 0 && rows.every((row) => selection.has(idOf(row)));
  const label = all ? "Select none" : `Select the ${rows.length} loaded rows`;
  return (
    <div role="columnheader" aria-colindex={1} className={styles["check"]}>
      <button
        type="button"
        role="checkbox"
        aria-checked={all ? true : selection.size > 0 ? "mixed" : false}
        aria-label={label}
        title={label}
        className={styles["checkAll"]}
        onClick={() => onSelect(all ? noSelection : new Set(rows.map(idOf)))}
      >
        <span className={styles["box"]} data-checked={all} data-some={selection.size > 0} />
      </button>
    </div>
  );
}

function HeaderCell<Row>(
  props: Props<Row> & { readonly one: PlacedColumn<Row>; readonly at: number },
): JSX.Element {
  const { one, at, sort, onSort, layout, onLayout, placed, room } = props;
  const { id, title, sort: field } = one.column;
  const sorted = field !== undefined && sort?.field === field;
  const order = sort?.descending === true ? "descending" : "ascending";
  const Arrow = sort?.descending === true ? ArrowDown : ArrowUp;
  return (
    <div
      role="columnheader"
      aria-colindex={at}
      aria-sort={sorted ? order : "none"}
      className={cellClass(one)}
      style={cellStyle(one)}
    >
      {field === undefined || onSort === undefined ? (
        <span className={styles["title"]}>{title}</span>
      ) : (
        <button type="button" className={styles["title"]} onClick={() => onSort(field)}>
          <span>{title}</span>
          {sorted && <Arrow size={12} aria-hidden />}
        </button>
      )}
      {onLayout !== undefined && (
        <Resizer
          width={one.width}
          onWidth={(width) => onLayout(withWidth(layout, placed, id, width, room))}
        />
      )}
    </div>
  );
}

/** Resizes a column by the pointer; the columns dialog does the same by keyboard. */
function Resizer(props: {
  readonly width: number;
  readonly onWidth: (width: number) => void;
}): JSX.Element {
  const [start, setStart] = useState<{ readonly x: number; readonly width: number } | null>(null);
  const grab = (event: PointerEvent<HTMLSpanElement>): void => {
    event.preventDefault();
    event.currentTarget.setPointerCapture(event.pointerId);
    setStart({ x: event.clientX, width: props.width });
  };
  const drag = (event: PointerEvent): void => {
    if (start !== null) props.onWidth(start.width + event.clientX - start.x);
  };
  return (
    <span
      aria-hidden
      className={styles["resizer"]}
      onPointerDown={grab}
      onPointerMove={drag}
      onPointerUp={() => setStart(null)}
      onPointerCancel={() => setStart(null)}
    />
  );
}
