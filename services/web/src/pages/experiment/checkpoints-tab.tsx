import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReplyOf } from "@trainyard/contracts";
import { type JSX, useMemo } from "react";
import { CheckpointInspector } from "../../components/checkpoint/checkpoint-inspector.tsx";
import { policyText, verdictText } from "../../components/checkpoint/verdict.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { bytes, counted, number, time } from "../../components/format.ts";
import { checkpointState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { type Column, Table } from "../../components/table/index.ts";
import { useList } from "../../data/calls.ts";
import type { TabProps } from "./tabs.ts";
import styles from "./texts.module.css";

const route = getRouteApi("/experiments/$experiment");

type Checkpoint = ReplyOf<"listCheckpoints">["items"][number];
type Verdict = ReplyOf<"previewRetention">["items"][number];

/** The experiment's checkpoints, each with what keeps or condemns it under the current policy. */
export function CheckpointsTab({ experiment: { id } }: TabProps): JSX.Element {
  const { checkpoint } = route.useSearch();
  const navigate = route.useNavigate();
  const checkpoints = useList(
    "listCheckpoints",
    { experiment: id, pageSize: 200, orderBy: "declared_at desc" },
    { watch: { kind: "checkpoints", experiment: id }, follow: true },
  );
  const verdicts = useList("previewRetention", { experiment: id, pageSize: 1_000 });
  const policy = verdicts.data?.pages[0]?.policy;
  const byId = useMemo(
    () =>
      new Map(
        verdicts.data?.pages.flatMap(({ items }) => items).map((one) => [one.checkpoint, one]),
      ),
    [verdicts.data],
  );
  const rows = checkpoints.data?.pages.flatMap(({ items }) => items) ?? [];
  const show = (uuid: string | undefined) =>
    void navigate({ search: (old) => ({ ...old, checkpoint: uuid }), replace: true });
  return (
    <>
      <p className={styles["policy"]}>{policy !== undefined && policyText(policy)}</p>
      <div className={styles["split"]}>
        <Table
          label={`Checkpoints of experiment ${id}`}
          columns={columnsOf(byId)}
          layout={layout}
          rows={rows}
          idOf={({ uuid }) => uuid}
          activeId={checkpoint}
          onActive={({ uuid }) => show(uuid)}
          onEnd={() => {
            if (checkpoints.hasNextPage && !checkpoints.isFetching)
              void checkpoints.fetchNextPage();
            if (verdicts.hasNextPage && !verdicts.isFetching) void verdicts.fetchNextPage();
          }}
          empty={
            <EmptyState title="No checkpoint yet.">
              Rows appear here when a trial stores one with <code>ctx.checkpoint.store_path</code>.
            </EmptyState>
          }
          pending={checkpoints.isPending}
          error={checkpoints.error}
          onRetry={() => void checkpoints.refetch()}
          status={
            checkpoints.isSuccess &&
            `${counted(rows.length, "checkpoint")}${checkpoints.hasNextPage ? " loaded" : ""}`
          }
        />
        {checkpoint !== undefined && (
          <CheckpointInspector checkpoint={checkpoint} onClose={() => show(undefined)} />
        )}
      </div>
    </>
  );
}

const layout = [
  { id: "id", pinned: true },
  { id: "trial" },
  { id: "step" },
  { id: "value" },
  { id: "state" },
  { id: "retention" },
  { id: "size" },
  { id: "held" },
  { id: "stored" },
];

function columnsOf(verdicts: ReadonlyMap<string, Verdict>): readonly Column<Checkpoint>[] {
  const plain = (
    id: string,
    title: string,
    width: number,
    text: (one: Checkpoint) => string,
  ): Column<Checkpoint> => ({ id, title, width, text, cell: text });
  return [
    { ...plain("id", "Checkpoint", 112, ({ uuid }) => uuid.slice(0, 8)), mono: true },
    {
      ...plain("trial", "Trial", 80, ({ trial }) => trial),
      cell: ({ trial }) => (
        <Link to="/trials/$trial" params={{ trial }} search={{}}>
          {trial}
        </Link>
      ),
    },
    {
      ...plain("step", "Step", 88, ({ stepsCompleted }) => number(stepsCompleted)),
      right: true,
    },
    {
      ...plain("value", "Metric", 96, ({ uuid }) => number(verdicts.get(uuid)?.value)),
      right: true,
    },
    {
      ...plain("state", "State", 132, ({ state }) => state),
      cell: (one) => <StateBadge state={checkpointState(one)} title={one.reason} />,
    },
    plain("retention", "Retention", 320, ({ uuid }) => verdictText(verdicts.get(uuid))),
    { ...plain("size", "Size", 96, (one) => bytes(one.bytes)), right: true },
    plain("held", "Held by", 136, ({ pins }) => pins.map(({ holder }) => holder).join(", ")),
    plain("stored", "Stored", 168, ({ completedAtMs }) => time(completedAtMs)),
  ];
}
