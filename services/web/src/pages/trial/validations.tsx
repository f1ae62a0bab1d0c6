import type { ReplyOf } from "@trainyard/contracts";
import { type JSX, useMemo } from "react";
import { Value } from "../../canvas/value/value.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { counted, number, time } from "../../components/format.ts";
import { FactList, Inspector } from "../../components/inspector.tsx";
import { type Column, Table } from "../../components/table/index.ts";
import { own } from "../../data/own.ts";
import styles from "./trial.module.css";
import type { TabProps } from "./trial.ts";
import { useWholeList } from "./use-whole-list.ts";

type Point = ReplyOf<"listTrialMetrics">["items"][number];

const pageSize = 1_000;
const pagesMax = 20;
const idOf = ({ run, key }: Point): string => `${run}/${key}`;

/** Each validation, the latest first; the chosen one with all its reported values, drawn. */
export function Validations({ trial, search, onSearch }: TabProps): JSX.Element {
  const request = { trial: trial.id, group: "validation", pageSize };
  const points = useWholeList("listTrialMetrics", request, pagesMax, {
    watch: { kind: "trials", experiment: trial.experiment, id: trial.id },
    follow: true,
  });
  const rows = useMemo(() => points.rows?.toReversed() ?? [], [points.rows]);
  const columns = useMemo(() => columnsOf(rows), [rows]);
  const layout = useMemo(() => columns.map(({ id }) => ({ id })), [columns]);
  const chosen = rows.find((point) => idOf(point) === search.point) ?? rows[0];
  return (
    <div className={styles["split"]}>
      <Table
        label={`Validations of trial ${trial.id}`}
        columns={columns}
        layout={layout}
        rows={rows}
        idOf={idOf}
        total={points.isPartial ? undefined : rows.length}
        onActive={(point) => onSearch({ point: idOf(point) })}
        activeId={chosen === undefined ? undefined : idOf(chosen)}
        empty={
          <EmptyState title="No validation yet.">
            Rows appear here when the trial calls <code>ctx.train.report_validation_metrics</code>.
          </EmptyState>
        }
        pending={points.rows === undefined}
        // Later pages are above the first, so the order is fixed once all are read.
        list={points.isPartial ? null : trial.id}
        error={points.error}
        onRetry={() => void points.refetch()}
        status={points.rows !== undefined && counted(rows.length, "validation")}
      />
      {chosen !== undefined && (
        <Inspector
          title={`Step ${number(chosen.stepsCompleted)}, run ${chosen.run}`}
          onClose={() => onSearch({ point: undefined })}
        >
          <Chosen point={chosen} />
        </Inspector>
      )}
    </div>
  );
}

function Chosen({ point }: { readonly point: Point }): JSX.Element {
  const { metrics, others, reportedAtMs } = point;
  const scalars = Object.entries(metrics).map(([name, value]) => [name, number(value)] as const);
  return (
    <div className={styles["values"]}>
      <FactList facts={[["Reported", time(reportedAtMs)], ...scalars]} />
      {Object.entries(others ?? {}).map(([name, value]) => (
        <Value key={name} name={name} value={value} />
      ))}
    </div>
  );
}

function columnsOf(points: readonly Point[]): readonly Column<Point>[] {
  const names = new Set(points.flatMap(({ metrics }) => Object.keys(metrics)));
  const column = (title: string, width: number, text: (point: Point) => string): Column<Point> => ({
    id: title,
    title,
    width,
    right: true,
    cell: text,
    text,
  });
  return [
    column("Step", 96, ({ stepsCompleted }) => number(stepsCompleted)),
    column("Run", 64, ({ run }) => String(run)),
    ...[...names].map((name) => ({
      ...column(name, 120, ({ metrics }) => number(own(metrics, name))),
      id: `metrics.${name}`,
    })),
    column("Reported", 168, ({ reportedAtMs }) => time(reportedAtMs)),
  ];
}
