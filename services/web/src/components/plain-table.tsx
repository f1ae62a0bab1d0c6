import type { JSX, ReactNode } from "react";
import styles from "./plain-table.module.css";

export type PlainColumn<Row> = {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers are right-aligned, in digits of equal width. */
  readonly numeric?: boolean;
};

type Props<Row> = {
  /** The name of the table; visible only without a heading. */
  readonly caption: string;
  readonly captionShown?: boolean;
  readonly headHidden?: boolean;
  /** The columns; cells of the first are row headers. */
  readonly columns: readonly PlainColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /** The class of a scrolling region below the table's head. */
  readonly scroll?: string | undefined;
};

/** A short table that is rendered whole; long lists use `Table`. */
export function PlainTable<Row>(props: Props<Row>): JSX.Element {
  const { caption, captionShown = false, headHidden = false, columns, rows, keyOf, scroll } = props;
  const table = (
    <table className={styles["table"]} data-sticky={scroll !== undefined}>
      <caption className={captionShown ? undefined : "visually-hidden"}>{caption}</caption>
      <thead className={headHidden ? "visually-hidden" : undefined}>
        <tr>
          {columns.map(({ title, numeric }) => (
            <th key={title} scope="col" data-numeric={numeric}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ title, cell, numeric }, at) =>
              at === 0 ? (
                <th key={title} scope="row" data-numeric={numeric}>
                  {cell(row)}
                </th>
              ) : (
                <td key={title} data-numeric={numeric}>
                  {cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
  if (scroll === undefined) return table;
  return (
    <div className={scroll} role="region" aria-label={caption} tabIndex={0}>
      {table}
    </div>
  );
}
