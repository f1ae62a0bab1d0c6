import type { JSX, ReactNode } from "react";
import styles from "./plain-table.module.css";

export type PlainColumn<Row> = {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers are at the right, in digits of one width. */
  readonly numeric?: boolean;
};

type Props<Row> = {
  /** Names the table; shown only where no heading does. */
  readonly caption: string;
  readonly captionShown?: boolean;
  readonly headHidden?: boolean;
  /** The first heads each row. */
  readonly columns: readonly PlainColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /** The class of a region of its own that scrolls under the head. */
  readonly scroll?: string | undefined;
};

/** A short table, all of it drawn; lists that grow are `Table`. */
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
