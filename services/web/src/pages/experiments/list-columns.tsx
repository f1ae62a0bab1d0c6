import type { JSX } from "react";
import { type Column, type ColumnLayout, ColumnsDialog } from "../../components/table/index.ts";
import { useCalls } from "../../data/calls.ts";
import { hyperparameterField, hyperparameterNames, metricField, typedField } from "./attributes.ts";
import { attributeColumn, initialLayout, type Row } from "./columns.tsx";

type Props = {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly columns: readonly Column<Row>[];
  readonly layout: ColumnLayout;
  readonly onLayout: (layout: ColumnLayout) => void;
  readonly rows: readonly Row[];
};

const configurationsRead = 8;

/**
 * The columns of the list: its fields, the metrics of the loaded rows, and the hyperparameters of the first few rows.
 */
export function ListColumns(props: Props): JSX.Element {
  const { open, columns, rows } = props;
  const read = open ? rows.slice(0, configurationsRead) : [];
  const documents = useCalls(
    "getExperiment",
    read.map(({ id }) => ({ experiment: id })),
  );
  const names = new Set(documents.flatMap((document) => hyperparameterNames(document?.config)));
  const known = [
    ...[...names].map(hyperparameterField),
    ...new Set(rows.map(({ metric }) => metricField(metric))),
  ];
  const ids = new Set(columns.map(({ id }) => id));
  const offered = known
    .filter((field) => !ids.has(field))
    .map((field) => attributeColumn(field, rows));
  const typed = (text: string): Column<Row> | null => {
    const field = typedField(text);
    return field === null || ids.has(field) ? null : attributeColumn(field, rows);
  };
  return (
    <ColumnsDialog
      {...props}
      columns={[...columns, ...offered]}
      typed={typed}
      initial={initialLayout}
    />
  );
}
