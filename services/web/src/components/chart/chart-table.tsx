import type { JSX } from "react";
import { number } from "../format.ts";
import styles from "./chart.module.css";
import { shownX } from "./x-text.ts";
import type { Line } from "./line.ts";
import type { Range } from "./scale.ts";
import { tableOf } from "./table-rows.ts";

type Props = {
  readonly lines: readonly Line[];
  readonly range: Range;
  readonly xTitle: string;
  readonly time: boolean;
};

const limits = { rows: 200, columns: 20 };

/** The values of the chart as a table. */
export function ChartTableView({ lines, range, xTitle, time }: Props): JSX.Element {
  const { columns, rows, columnsLeftOut, rowsLeftOut } = tableOf(lines, range, limits);
  return (
    <div className={styles["table"]} role="region" aria-label="Values" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{xTitle}</th>
            {columns.map(({ id, label, group }) => (
              <th key={id} scope="col">
                {label} {group}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ x, cells }) => (
            <tr key={x}>
              <th scope="row">{shownX(x, time)}</th>
              {cells.map((cell, index) => (
                <td key={columns[index]?.id}>{cell === undefined ? "" : number(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rowsLeftOut > 0 && (
        <p>{rowsLeftOut} rows between these are left out: zoom in to see them.</p>
      )}
      {columnsLeftOut > 0 && <p>{columnsLeftOut} more lines: select fewer trials to see them.</p>}
    </div>
  );
}
