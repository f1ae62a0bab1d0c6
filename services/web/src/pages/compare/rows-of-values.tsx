import { Fragment, type JSX } from "react";
import styles from "./compare.module.css";
import { OrderButton } from "./order-button.tsx";
import { valueText } from "./rows.ts";
import { TrialButton } from "./trial-button.tsx";
import type { ValuesProps } from "./values-tab.tsx";

/** The table with a column for each trial. */
export function RowsOfValues(props: ValuesProps): JSX.Element {
  const { trials, rows, order, onOrder, chosen, onChoose } = props;
  const sections = [...new Set(rows.map(({ section }) => section))];
  return (
    <table className={styles["table"]}>
      <caption className="visually-hidden">Values of the trials</caption>
      <thead>
        <tr>
          <th scope="col">Value</th>
          {trials.map((trial) => (
            <th key={trial.id} scope="col" data-chosen={trial.id === chosen}>
              <TrialButton trial={trial} onChoose={onChoose} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {sections.map((section) => (
          <Fragment key={section}>
            <tr className={styles["section"]}>
              <th scope="rowgroup">{section}</th>
              <td colSpan={trials.length} />
            </tr>
            {rows
              .filter((row) => row.section === section)
              .map((row) => (
                <tr key={row.key} data-differs={row.differs}>
                  <th scope="row">
                    <OrderButton {...{ row, order, onOrder }} />
                  </th>
                  {row.values.map((value, at) => (
                    <td
                      key={trials[at]?.id ?? at}
                      data-numeric={typeof value === "number"}
                      title={valueText(value)}
                    >
                      {valueText(value)}
                    </td>
                  ))}
                </tr>
              ))}
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}
