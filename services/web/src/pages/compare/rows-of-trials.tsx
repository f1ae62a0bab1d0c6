import type { JSX } from "react";
import styles from "./compare.module.css";
import { OrderButton } from "./order-button.tsx";
import { valueText } from "./rows.ts";
import { TrialButton } from "./trial-button.tsx";
import type { ValuesProps } from "./values-tab.tsx";

/** The table with a row for each trial: for many trials. */
export function RowsOfTrials(props: ValuesProps): JSX.Element {
  const { trials, rows, order, onOrder, chosen, onChoose } = props;
  return (
    <table className={styles["table"]}>
      <caption className="visually-hidden">Values of the trials</caption>
      <thead>
        <tr>
          <th scope="col">Trial</th>
          {rows.map((row) => (
            <th
              key={row.key}
              scope="col"
              {...(row.key === order?.key
                ? { "aria-sort": order.desc ? "descending" : "ascending" }
                : {})}
            >
              <small>{row.section}</small>
              <OrderButton {...{ row, order, onOrder }} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {trials.map((trial, at) => (
          <tr key={trial.id}>
            <th scope="row" data-chosen={trial.id === chosen}>
              <TrialButton trial={trial} onChoose={onChoose} />
            </th>
            {rows.map(({ key, values }) => (
              <td
                key={key}
                data-numeric={typeof values[at] === "number"}
                title={valueText(values[at])}
              >
                {valueText(values[at])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
