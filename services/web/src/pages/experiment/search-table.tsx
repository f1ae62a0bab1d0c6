import type { JSX } from "react";
import { numberOf, type Picture } from "../../canvas/search-view/layout.ts";
import { Button } from "../../components/button.tsx";
import { number } from "../../components/format.ts";
import { type PlainColumn, PlainTable } from "../../components/plain-table.tsx";
import { trialName } from "../../components/trial-name.ts";
import styles from "./search.module.css";
import type { HyperparametersOf } from "./use-hyperparameters.ts";

type Props = {
  readonly picture: Picture;
  readonly hyperparametersOf: HyperparametersOf;
  readonly onChoose: (trial: number) => void;
};
type Row = Picture["trials"][number];

/** The picture as a table: a row for each trial, a column for each rung, with rank and value. */
export function SearchTable({ picture, hyperparametersOf, onChoose }: Props): JSX.Element {
  const rungs = Math.max(0, ...picture.brackets.map((bracket) => bracket.rungs.length));
  const continued = picture.trials.some(({ startFromTrial }) => startFromTrial !== undefined);
  const several = picture.brackets.length > 1;
  const columns: readonly PlainColumn<Row>[] = [
    {
      title: "Trial",
      cell: ({ trial }) => (
        <Button look="link" onClick={() => onChoose(numberOf(trial))}>
          {trialName(trial)}
        </Button>
      ),
    },
    { title: "State", cell: ({ state }) => state.replaceAll("_", " ") },
    { title: "Time", numeric: true, cell: ({ time }) => number(time) },
    { title: "Best", numeric: true, cell: ({ best }) => number(best) },
    ...(continued ? [continuesColumn] : []),
    {
      title: "Hyperparameters",
      cell: (row) =>
        hyperparametersOf(row)
          .map(({ name, value }) => `${name} ${value}`)
          .join(", "),
    },
    ...(several ? [bracketColumn] : []),
    ...Array.from({ length: rungs }, (_, rung) => rungColumn(rung)),
    { title: "Last decision", cell: ({ decisions }) => decisions.at(-1)?.sentence },
  ];
  return (
    <PlainTable
      caption="Trials of the search"
      scroll={styles["scroll"]}
      columns={columns}
      rows={picture.trials}
      keyOf={({ trial }) => trial}
    />
  );
}

const continuesColumn: PlainColumn<Row> = {
  title: "Starts from",
  cell: ({ startFromTrial, startFromTime }) =>
    startFromTrial && `${trialName(startFromTrial)} at ${number(startFromTime)}`,
};

const bracketColumn: PlainColumn<Row> = {
  title: "Bracket",
  numeric: true,
  cell: ({ bracket }) => (bracket === undefined ? "" : bracket + 1),
};

const rungColumn = (rung: number): PlainColumn<Row> => ({
  title: `Rung ${rung + 1}`,
  numeric: true,
  cell: ({ reports }) => {
    const report = reports.find((one) => one.rung === rung);
    return report && `${report.rank}: ${number(report.value) || "no value"}`;
  },
});
