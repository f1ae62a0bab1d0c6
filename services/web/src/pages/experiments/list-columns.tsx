import type { JSX } from "react";
import { useCall } from "../../app/calls.ts";
import { type Column, type ColumnLayout, ColumnsDialog } from "../../components/table/index.ts";
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

/** The columns of the list: its fields, the metrics of the loaded rows, and the hyperparameters of the first of them. */
export function ListColumns(props: Props): JSX.Element {
  const { open, columns, rows } = props;
  const [first] = rows;
  const experiment = first?.id ?? "";
  const config = useCall("getExperiment", { experiment }, { enabled: open && first !== undefined });
  const known = [
    ...hyperparameterNames(config.data?.config).map(hyperparameterField),
    ...new Set(rows.map(({ metric }) => metricField(metric))),
  ];
  const ids = new Set(columns.map(({ id }) => id));
  const offered = known.filter((field) => !ids.has(field)).map(attributeColumn);
  const typed = (text: string): Column<Row> | null => {
    const field = typedField(text);
    return field === null || ids.has(field) ? null : attributeColumn(field);
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
