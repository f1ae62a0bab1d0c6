import type { JSX } from "react";
import { Button } from "../../components/button.tsx";
import { csvOf } from "../../components/csv.ts";
import { saveAs } from "../../components/save-as.ts";
import type { ComparedTrial } from "./comparison.ts";
import styles from "./compare.module.css";
import type { TabProps } from "./page.tsx";
import { type Order, nextOrder, placesIn, readOrder, rowsOf, type ValueRow } from "./rows.ts";
import { RowsOfTrials } from "./rows-of-trials.tsx";
import { RowsOfValues } from "./rows-of-values.tsx";

/** Beyond this number trials are rows, unless the reader chooses. */
const columnsMax = 12;

/** The properties that the parts of the table share. */
export type ValuesProps = {
  readonly trials: readonly ComparedTrial[];
  /** The rows of values, with one value per trial in the order of the trials. */
  readonly rows: readonly ValueRow[];
  readonly order: Order | null;
  readonly onOrder: (key: string) => void;
  readonly chosen: string | undefined;
  readonly onChoose: (trial: string) => void;
};

/** Hyperparameters, metrics and configuration as a table of the rows that differ. */
export function ValuesTab({ comparison, search, change, onChoose }: TabProps): JSX.Element {
  const all = rowsOf(comparison.trials);
  const different = all.filter(({ differs }) => differs);
  const rows = search.all === true ? all : different;
  const order = readOrder(search.sort);
  const places = placesIn(all, order, comparison.trials.length);
  const trials = places.flatMap((at) => comparison.trials[at] ?? []);
  const ordered = rows.map((row) => ({ ...row, values: places.map((at) => row.values[at]) }));
  const isTurned = (search.rows ?? (trials.length > columnsMax ? "trials" : "values")) === "trials";
  const props: ValuesProps = {
    trials,
    rows: ordered,
    order,
    onOrder: (key) => change({ sort: nextOrder(order, key) }),
    chosen: search.at,
    onChoose,
  };
  return (
    <div className={styles["values"]}>
      <div className={styles["bar"]}>
        <label>
          <input
            type="checkbox"
            checked={search.all === true}
            onChange={({ target }) => change({ all: target.checked || undefined })}
          />{" "}
          All rows ({different.length} of {all.length} differ)
        </label>
        <Button onClick={() => change({ rows: isTurned ? "values" : "trials" })}>
          {isTurned ? "Trials as columns" : "Trials as rows"}
        </Button>
        <Button
          onClick={() =>
            saveAs("comparison.csv", new Blob([csvTextOf(props)], { type: "text/csv" }))
          }
        >
          Export as CSV
        </Button>
      </div>
      {rows.length === 0 && <p className={styles["note"]}>The trials differ in nothing.</p>}
      {rows.length > 0 && (
        <div
          className={styles["scroll"]}
          role="region"
          aria-label="Values of the trials"
          tabIndex={0}
        >
          {isTurned ? <RowsOfTrials {...props} /> : <RowsOfValues {...props} />}
        </div>
      )}
    </div>
  );
}

/** A line for each trial; numbers have all their digits. */
function csvTextOf({ trials, rows }: ValuesProps): string {
  return csvOf([
    ["trial", ...rows.map(({ section, title }) => `${section}: ${title}`)],
    ...trials.map(({ id }, at) => [id, ...rows.map(({ values }) => String(values[at] ?? ""))]),
  ]);
}
