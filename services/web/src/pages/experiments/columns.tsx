import type { Plain } from "@trainyard/contracts";
import type { Experiment } from "@trainyard/contracts/api";
import type { ReactNode } from "react";
import { age, duration, number, time } from "../../components/format.ts";
import { PathLink } from "../../components/path-link.tsx";
import { experimentPath } from "../../components/paths.ts";
import { ProgressBar } from "../../components/progress.tsx";
import { experimentState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import type { Column, ColumnLayout } from "../../components/table/index.ts";
import { leftOf, ranOf } from "../../components/times.ts";
import { WarningSign } from "../../components/warning.tsx";
import { own } from "../../data/own.ts";
import { isAttributeField } from "./attributes.ts";
import { LabelCell } from "./label-cell.tsx";

export type Row = Plain<Experiment>;

export const initialLayout: ColumnLayout = [
  { id: "id", pinned: true },
  { id: "name", pinned: true },
  ...[
    ...["state", "progress", "trials", "best_value", "metric", "took", "labels"],
    ...["created_at", "owner"],
  ].map((id) => ({ id })),
];

/**
 * Columns that a narrow window hides, the least important first. The inspector has them all. A best value is shown only
 * with the name of its metric. Labels stay while they are edited.
 */
export const giveWay = (isEditing: boolean): readonly string[] => [
  ...["trials", "progress", "took", "created_at", "owner"],
  ...(isEditing ? [] : ["labels"]),
  ...["best_value", "metric"],
];

export type CellContext = {
  readonly nowMs: number;
  /** The experiment whose labels are edited. */
  readonly editing: string | null;
  readonly onEdit: (experiment: string | null) => void;
};

function plain(
  id: string,
  title: string,
  width: number,
  text: (row: Row) => string,
  rest: Partial<Column<Row>> = {},
): Column<Row> {
  return { id, title, width, text, sort: id, cell: (row) => <span>{text(row)}</span>, ...rest };
}

/** A column that shows a number or a time formatted for people, and writes it in full to a CSV file. */
function shown(column: Column<Row>, cell: (row: Row) => ReactNode): Column<Row> {
  return { ...column, cell };
}

const full = (value: number | undefined): string => (value === undefined ? "" : String(value));

export function columnsOf(context: CellContext): readonly Column<Row>[] {
  return [
    plain("id", "ID", 56, ({ id }) => id, { mono: true }),
    shown(
      plain("name", "Name", 240, ({ name }) => name, { min: 128 }),
      (row) => (
        <PathLink to={experimentPath(row.id)} tabIndex={-1} title={row.name}>
          {row.name || row.id}
        </PathLink>
      ),
    ),
    shown(
      // The longest states have a sign of a warning beside them.
      plain("state", "State", 140, ({ state }) => state, { min: 124 }),
      (row) => (
        <span>
          <StateBadge state={experimentState(row)} title={row.reason} />
          <WarningSign text={row.warning} />
        </span>
      ),
    ),
    ...figures(),
    shown(labelColumn, (row) => (
      <LabelCell
        row={row}
        editing={context.editing === row.id}
        onEdit={(on) => context.onEdit(on ? row.id : null)}
      />
    )),
    ...texts(),
    ...times(context.nowMs),
  ];
}

const { sort: _unsorted, ...labelColumn } = plain(
  ...(["labels", "Labels", 160] as const),
  ({ labels }) => labels.join(" "),
  { min: 88 },
);

function figures(): readonly Column<Row>[] {
  const right = { right: true };
  return [
    shown(
      plain("progress", "Progress", 88, ({ progress }) => full(progress), right),
      (row) => <ProgressBar of={row} />,
    ),
    plain("trials", "Trials", 72, (row) => `${row.trialsCompleted}/${row.trials}`, right),
    plain("trials_failed", "Failed trials", 96, (row) => String(row.trialsFailed), right),
    shown(
      plain("best_value", "Best", 88, (row) => full(row.bestValue), right),
      (row) => <span>{number(row.bestValue)}</span>,
    ),
    plain("best_trial", "Best trial", 88, ({ bestTrial = "" }) => bestTrial, { mono: true }),
  ];
}

function texts(): readonly Column<Row>[] {
  const { sort: _none, ...description } = plain(
    "description",
    "Description",
    240,
    (row) => row.description,
  );
  return [
    plain("metric", "Metric", 112, ({ metric }) => metric, { min: 68 }),
    plain("searcher", "Search", 120, ({ searcher }) => searcher),
    plain("workspace", "Workspace", 120, ({ workspace }) => workspace),
    plain("project", "Project", 120, ({ project }) => project),
    plain("owner", "Owner", 96, ({ owner }) => owner, { min: 60 }),
    plain("parent", "Forked from", 96, ({ parent }) => parent, { mono: true }),
    description,
  ];
}

function times(nowMs: number): readonly Column<Row>[] {
  const { sort: _none, ...took } = plain("took", "Duration", 80, (row) =>
    String((row.endedAtMs ?? nowMs) - row.createdAtMs),
  );
  const { sort: _unsortedLeft, ...left } = plain("left", "Left", 80, (row) => leftOf(row, nowMs));
  const { sort: _unsortedRan, ...ran } = plain("ran", "Ran", 96, (row) => ranOf(row, nowMs));
  const iso = (ms: number | undefined): string =>
    ms === undefined ? "" : new Date(ms).toISOString();
  const ago = (ms: number | undefined): ReactNode =>
    ms !== undefined && <span title={time(ms)}>{age(ms, nowMs)}</span>;
  return [
    shown(
      plain("created_at", "Created", 76, (row) => iso(row.createdAtMs)),
      (row) => ago(row.createdAtMs),
    ),
    shown(
      plain("ended_at", "Ended", 96, (row) => iso(row.endedAtMs)),
      (row) => ago(row.endedAtMs),
    ),
    shown({ ...took, right: true }, (row) => (
      <span>{duration((row.endedAtMs ?? nowMs) - row.createdAtMs)}</span>
    )),
    { ...ran, right: true },
    { ...left, right: true },
  ];
}

/** A hyperparameter or a metric, by its field: numbers are right-aligned, a column that has a text in `rows` is not. */
export function attributeColumn(field: string, rows: readonly Row[]): Column<Row> {
  const right = !rows.some(({ values }) => typeof own(values, field) === "string");
  const text = ({ values }: Row): string => {
    const value = own(values, field);
    return value === undefined || value === null ? "" : String(value);
  };
  const cell = ({ values }: Row): ReactNode => {
    const value = own(values, field);
    return <span>{typeof value === "number" ? number(value) : text({ values } as Row)}</span>;
  };
  const title = field.replace(/^(hparams|metrics)\./, "");
  return { id: field, title, width: 120, right, sort: field, text, cell };
}

export const attributesIn = (layout: ColumnLayout): readonly string[] =>
  layout.map(({ id }) => id).filter(isAttributeField);
