import { type JSX, useMemo } from "react";
import type { ReplyOf } from "@trainyard/contracts";
import { CheckpointInspector } from "../../components/checkpoint/checkpoint-inspector.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { bytes, count, counted, number, time } from "../../components/format.ts";
import { checkpointState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { type Column, Table } from "../../components/table/index.ts";
import type { TabProps } from "./trial.ts";
import styles from "./trial.module.css";
import { useWholeList } from "./use-whole-list.ts";

type Checkpoint = ReplyOf<"listCheckpoints">["items"][number];

const pageSize = 1_000;
const pagesMax = 20;
const idOf = ({ uuid }: Checkpoint): string => uuid;

/** The trial's checkpoints; the chosen one with its files and its holders. */
export function Checkpoints({ trial, search, onSearch }: TabProps): JSX.Element {
  const request = { trial: trial.id, pageSize };
  const checkpoints = useWholeList("listCheckpoints", request, pagesMax, {
    watch: { kind: "checkpoints", experiment: trial.experiment, filter: `trial = "${trial.id}"` },
    follow: true,
  });
  const rows = useMemo(
    () => checkpoints.rows?.toSorted((one, other) => other.declaredAtMs - one.declaredAtMs) ?? [],
    [checkpoints.rows],
  );
  return (
    <div className={styles["split"]}>
      <Table
        label={`Checkpoints of trial ${trial.id}`}
        columns={columns}
        layout={layout}
        rows={rows}
        idOf={idOf}
        total={checkpoints.isPartial ? undefined : rows.length}
        onActive={({ uuid }) => onSearch({ checkpoint: uuid })}
        activeId={search.checkpoint}
        empty={
          <EmptyState title="No checkpoint yet.">
            Rows appear here when the trial stores one with <code>ctx.checkpoint.store_path</code>.
          </EmptyState>
        }
        pending={checkpoints.rows === undefined}
        error={checkpoints.error}
        onRetry={() => void checkpoints.refetch()}
        status={checkpoints.rows !== undefined && counted(rows.length, "checkpoint")}
      />
      {search.checkpoint !== undefined && (
        <CheckpointInspector
          checkpoint={search.checkpoint}
          onClose={() => onSearch({ checkpoint: undefined })}
        />
      )}
    </div>
  );
}

const columns: readonly Column<Checkpoint>[] = [
  {
    id: "id",
    title: "Checkpoint",
    width: 112,
    mono: true,
    cell: ({ uuid }) => uuid.slice(0, 8),
    text: idOf,
  },
  {
    id: "state",
    title: "State",
    width: 128,
    cell: (one) => <StateBadge state={checkpointState(one)} title={one.reason} />,
    text: ({ state }) => state,
  },
  {
    id: "step",
    title: "Step",
    width: 88,
    right: true,
    cell: ({ stepsCompleted }) => number(stepsCompleted),
    text: ({ stepsCompleted }) => String(stepsCompleted),
  },
  {
    id: "run",
    title: "Run",
    width: 56,
    right: true,
    cell: ({ run }) => run,
    text: ({ run }) => String(run),
  },
  {
    id: "size",
    title: "Size",
    width: 96,
    right: true,
    cell: ({ bytes: size }) => bytes(size),
    text: ({ bytes: size }) => String(size),
  },
  {
    id: "files",
    title: "Files",
    width: 72,
    right: true,
    cell: ({ files }) => count(files),
    text: ({ files }) => String(files),
  },
  {
    id: "held",
    title: "Held by",
    width: 200,
    cell: ({ pins }) => pins.map(({ holder }) => holder).join(", "),
    text: ({ pins }) => pins.map(({ holder }) => holder).join(" "),
  },
  {
    id: "stored",
    title: "Stored",
    width: 168,
    cell: ({ completedAtMs }) => time(completedAtMs),
    text: ({ completedAtMs }) => time(completedAtMs),
  },
];
const layout = columns.map(({ id }) => ({ id }));
