import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReplyOf } from "@trainyard/contracts";
import { type JSX, useMemo } from "react";
import { Button } from "../../components/button.tsx";
import { CheckpointInspector } from "../../components/checkpoint/checkpoint-inspector.tsx";
import { policyText, verdictParts, verdictText } from "../../components/checkpoint/verdict.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { bytes, counted, number, time } from "../../components/format.ts";
import { type ListTotal, totalText } from "../../components/list-total.ts";
import { checkpointState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { type Column, Table } from "../../components/table/index.ts";
import { trialName } from "../../components/trial-name.ts";
import { useCall, useList } from "../../data/calls.ts";
import type { Experiment, TabProps } from "./tabs.ts";
import styles from "./texts.module.css";
import type { ExperimentSearch } from "./url.ts";

const route = getRouteApi("/experiments/$experiment");

type Checkpoint = ReplyOf<"listCheckpoints">["items"][number];
type Verdict = ReplyOf<"previewRetention">["items"][number];

const isDeleted = "state = DELETED";

/** The experiment's checkpoints, each with what keeps or condemns it under the current policy. */
export function CheckpointsTab({ experiment }: TabProps): JSX.Element {
  const { id } = experiment;
  const { checkpoint, deleted } = route.useSearch();
  const navigate = route.useNavigate();
  const showsDeleted = deleted === "shown";
  const filter = showsDeleted ? "" : `not ${isDeleted}`;
  const checkpoints = useList(
    "listCheckpoints",
    { experiment: id, pageSize: 200, orderBy: "declared_at desc", filter },
    { watch: { kind: "checkpoints", experiment: id, filter }, follow: true },
  );
  const gone = useDeleted(id);
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
  const set = (change: Pick<ExperimentSearch, "checkpoint" | "deleted">) =>
    void navigate({ search: (old) => ({ ...old, ...change }), replace: true });
  const show = (uuid: string | undefined) => set({ checkpoint: uuid });
  return (
    <>
      <div className={styles["policy"]}>
        <p>{policy !== undefined && policyText(policy)}</p>
        {gone.total > 0 && (
          <Button
            aria-pressed={showsDeleted}
            onClick={() => set({ deleted: showsDeleted ? undefined : "shown" })}
          >
            {showsDeleted ? "Hide" : "Show"} {totalText(gone)} deleted
          </Button>
        )}
      </div>
      <div className={styles["split"]}>
        <Table
          label={`Checkpoints of experiment ${id}`}
          columns={columnsOf(byId, experiment)}
          layout={layout}
          giveWay={giveWay}
          rows={rows}
          idOf={({ uuid }) => uuid}
          activeId={checkpoint}
          onActive={({ uuid }) => show(uuid)}
          onEnd={() => {
            if (checkpoints.hasNextPage && !checkpoints.isFetching)
              void checkpoints.fetchNextPage();
            if (verdicts.hasNextPage && !verdicts.isFetching) void verdicts.fetchNextPage();
          }}
          empty={<Empty hidden={showsDeleted ? 0 : gone.total} />}
          pending={checkpoints.isPending}
          list={filter}
          error={checkpoints.error}
          onRetry={() => void checkpoints.refetch()}
          status={
            checkpoints.isSuccess &&
            `${counted(rows.length, "checkpoint")}${checkpoints.hasNextPage ? " loaded" : ""}${showsDeleted || gone.total === 0 ? "" : `, ${totalText(gone)} deleted hidden`}`
          }
        />
        {checkpoint !== undefined && (
          <CheckpointInspector checkpoint={checkpoint} onClose={() => show(undefined)} />
        )}
      </div>
    </>
  );
}

/** The number of the experiment's checkpoints whose files are deleted. */
function useDeleted(experiment: string): ListTotal {
  const { data } = useCall(
    "listCheckpoints",
    { experiment, filter: isDeleted, pageSize: 1, count: true },
    { watch: { kind: "checkpoints", experiment, filter: isDeleted }, follow: true },
  );
  return { total: data?.total ?? 0, isEstimate: data?.totalIsEstimate === true };
}

function Empty({ hidden }: { readonly hidden: number }): JSX.Element {
  return hidden > 0 ? (
    <EmptyState title="Every checkpoint of this experiment is deleted." />
  ) : (
    <EmptyState title="No checkpoint yet.">
      Rows appear here when a trial stores one with <code>ctx.checkpoint.store_path</code>.
    </EmptyState>
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

/** The inspector has these facts too. */
const giveWay = ["held", "stored", "size", "step"];

function columnsOf(
  verdicts: ReadonlyMap<string, Verdict>,
  { metric }: Experiment,
): readonly Column<Checkpoint>[] {
  const plain = (
    id: string,
    title: string,
    width: number,
    text: (one: Checkpoint) => string,
  ): Column<Checkpoint> => ({ id, title, width, text, cell: text });
  return [
    { ...plain("id", "ID", 88, ({ uuid }) => uuid.slice(0, 8)), mono: true },
    {
      ...plain("trial", "Trial", 72, ({ trial }) => trialName(trial)),
      cell: ({ trial }) => (
        <Link to="/trials/$trial" params={{ trial }} search={{}}>
          {trialName(trial)}
        </Link>
      ),
    },
    {
      ...plain("step", "Step", 88, ({ stepsCompleted }) => number(stepsCompleted)),
      right: true,
    },
    {
      ...plain("value", metric, 104, ({ uuid }) => number(verdicts.get(uuid)?.value)),
      right: true,
    },
    {
      ...plain("state", "State", 128, ({ state }) => state),
      cell: (one) => <StateBadge state={checkpointState(one)} title={one.reason} />,
    },
    {
      ...plain("retention", "Retention", 400, ({ uuid }) => verdictText(verdicts.get(uuid))),
      min: 324,
      cell: ({ uuid }) => <Retention verdict={verdicts.get(uuid)} />,
    },
    { ...plain("size", "Size", 88, (one) => bytes(one.bytes)), right: true },
    plain("held", "Held by", 120, ({ pins }) => pins.map(({ holder }) => holder).join(", ")),
    plain("stored", "Stored", 164, ({ completedAtMs }) => time(completedAtMs)),
  ];
}

function Retention({ verdict }: { readonly verdict: Verdict | undefined }): JSX.Element {
  const { whole, rest } = verdictParts(verdict);
  return (
    <span title={verdictText(verdict)} className={styles["retention"]}>
      <span>{whole}</span>
      <span>{rest}</span>
    </span>
  );
}
