import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type JSX, useState } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { Page } from "../../components/page/page.tsx";
import { filterFault } from "../../components/problem.ts";
import { nextSort, readSort, sortText, Table } from "../../components/table/index.ts";
import { useTaskPage } from "../../components/task-page/use-task-page.tsx";
import { useList } from "../../data/calls.ts";
import { useNow } from "../../data/clock.ts";
import { useIsOwn, useMayAnywhere } from "../../data/may.ts";
import { initialLayout, taskColumns } from "./columns.tsx";
import { NotebookDialog } from "./notebook-dialog.tsx";
import styles from "./page.module.css";

const route = getRouteApi("/tasks");

/** The list of commands, shells, notebooks and TensorBoards, and the form that starts a notebook. */
export function TasksPage(): JSX.Element {
  const { filter = "", sort = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const open = useNavigate();
  const nowMs = useNow();
  const order = readSort(sort);
  const tasks = useList(
    "listTasks",
    { pageSize: 100, filter, orderBy: sort, count: true },
    {
      watch: { kind: "tasks", filter },
      follow: true,
      keepPrevious: true,
      ...(sort === "" ? { order: "newest first" as const } : {}),
    },
  );
  const rows = tasks.data?.pages.flatMap(({ items }) => items) ?? [];
  const fault = filterFault(tasks.error);
  const page = useTaskPage();
  const isOwn = useIsOwn();
  const [isStarting, setStarting] = useState(false);
  const verbs = useMayAnywhere()("createTask")
    ? [{ title: "Start a notebook", run: () => setStarting(true) }]
    : [];
  return (
    <Page title="Tasks" verbs={verbs}>
      <Bar
        key={filter}
        filter={filter}
        fault={fault}
        onChange={(next) => void navigate({ search: (old) => ({ ...old, filter: next }) })}
      />
      {tasks.error !== null && fault === null && (
        <ErrorNote error={tasks.error} onRetry={() => void tasks.refetch()} />
      )}
      {page.dialog}
      {isStarting && <NotebookDialog onClose={() => setStarting(false)} />}
      <Table
        label="Tasks"
        columns={taskColumns(nowMs, page.open, isOwn)}
        layout={initialLayout}
        rows={rows}
        idOf={({ id }) => id}
        total={tasks.data?.pages[0]?.total}
        onEnd={() => {
          if (tasks.hasNextPage && !tasks.isFetchingNextPage) void tasks.fetchNextPage();
        }}
        sort={order}
        onSort={(field) =>
          void navigate({
            search: (old) => {
              const { sort: _was, ...rest } = old;
              const text = sortText(nextSort(order, field));
              return text === "" ? rest : { ...rest, sort: text };
            },
          })
        }
        onOpen={({ id }) => void open({ to: "/tasks/$task", params: { task: id }, search: {} })}
        empty={tasks.isPending ? undefined : <NoTasks isFiltered={filter !== ""} />}
      />
    </Page>
  );
}

type BarProps = {
  readonly filter: string;
  readonly fault: ReturnType<typeof filterFault>;
  readonly onChange: (filter: string) => void;
};

function Bar({ filter, fault, onChange }: BarProps): JSX.Element {
  const [text, setText] = useState(filter);
  return (
    <form
      className={styles["bar"]}
      onSubmit={(event) => {
        event.preventDefault();
        onChange(text.trim());
      }}
    >
      <Field
        label="Filter"
        labelHidden
        data-filter
        placeholder="Filter, for example: kind = shell and state = RUNNING"
        value={text}
        onChange={(event) => setText(event.target.value)}
        error={fault === null ? undefined : `Column ${fault.column}: ${fault.detail}`}
      />
    </form>
  );
}

function NoTasks({ isFiltered }: { readonly isFiltered: boolean }): JSX.Element {
  if (isFiltered) {
    return <EmptyState title="No task matches the filter.">Remove a condition.</EmptyState>;
  }
  return (
    <EmptyState title="There are no tasks yet." command="yard cmd run -- nvidia-smi">
      A task is a command, a shell, a notebook or a TensorBoard that runs on the cluster.
    </EmptyState>
  );
}
