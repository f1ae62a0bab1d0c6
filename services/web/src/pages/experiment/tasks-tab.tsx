import { useNavigate } from "@tanstack/react-router";
import type { ReplyOf } from "@trainyard/contracts";
import { type JSX, useMemo } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { age, counted, time } from "../../components/format.ts";
import { PathLink } from "../../components/path-link.tsx";
import { taskState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { type Column, Table } from "../../components/table/index.ts";
import { trialName } from "../../components/trial-name.ts";
import { useList } from "../../data/calls.ts";
import { useNow } from "../../data/clock.ts";
import type { TabProps } from "./tabs.ts";
import { tasksFilter, tasksOf } from "./tasks-of.ts";

type Task = ReplyOf<"listTasks">["items"][number];

/** The tasks that show the experiment or its trials, or that are named after them. */
export function TasksTab({ experiment: { id } }: TabProps): JSX.Element {
  const filter = tasksFilter(id);
  const open = useNavigate();
  const nowMs = useNow();
  const tasks = useList(
    "listTasks",
    { pageSize: 200, filter },
    { watch: { kind: "tasks", filter }, follow: true, order: "newest first" },
  );
  const rows = useMemo(
    () => tasksOf(tasks.data?.pages.flatMap(({ items }) => items) ?? [], id),
    [tasks.data, id],
  );
  return (
    <Table
      label={`Tasks of experiment ${id}`}
      columns={columnsOf(id, nowMs)}
      layout={layout}
      giveWay={["created", "owner", "name"]}
      rows={rows}
      idOf={(task) => task.id}
      onOpen={(task) => void open({ to: "/tasks/$task", params: { task: task.id }, search: {} })}
      onEnd={() => {
        if (tasks.hasNextPage && !tasks.isFetching) void tasks.fetchNextPage();
      }}
      empty={
        <EmptyState
          title="No task belongs to this experiment."
          command={`yard tensorboard start ${id}`}
        >
          A TensorBoard of this experiment or of some of its trials appears here, and a notebook
          with “experiment {id}” in its name.
        </EmptyState>
      }
      pending={tasks.isPending}
      error={tasks.error}
      onRetry={() => void tasks.refetch()}
      status={tasks.isSuccess && counted(rows.length, "task")}
    />
  );
}

const layout = ["id", "kind", "state", "shows", "reason", "name", "owner", "created"].map((id) => ({
  id,
}));

function columnsOf(experiment: string, nowMs: number): readonly Column<Task>[] {
  const plain = (
    id: string,
    title: string,
    width: number,
    text: (task: Task) => string,
  ): Column<Task> => ({ id, title, width, cell: text, text });
  return [
    {
      ...plain("id", "Task", 72, ({ id }) => id),
      cell: ({ id }) => <PathLink to={`/tasks/${id}`}>{id}</PathLink>,
    },
    plain("kind", "Kind", 112, ({ kind }) => kind),
    {
      ...plain("state", "State", 128, (task) => taskState(task).word),
      cell: (task) => (
        <StateBadge state={taskState(task)} restarts={task.restarts} title={task.reason} />
      ),
    },
    { ...plain("shows", "Shows", 160, (task) => showsText(task, experiment)), min: 96 },
    { ...plain("reason", "Reason", 320, ({ reason }) => reason.split("\n")[0] ?? ""), min: 120 },
    { ...plain("name", "Name", 160, ({ name }) => name), min: 96 },
    plain("owner", "Owner", 104, ({ owner }) => owner),
    {
      ...plain("created", "Created", 96, ({ createdAtMs }) => time(createdAtMs)),
      cell: ({ createdAtMs }) => <span title={time(createdAtMs)}>{age(createdAtMs, nowMs)}</span>,
    },
  ];
}

/** The sources of a task on this page: its trials by their name here, others by their id. */
function showsText({ sources }: Task, experiment: string): string {
  const nameOf = (source: string): string => {
    if (source === experiment) return "all trials";
    return source.startsWith(`${experiment}.`) ? trialName(source) : source;
  };
  return sources.map(nameOf).join(", ");
}
