import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type JSX, useState } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { Page } from "../../components/page/page.tsx";
import { filterFault } from "../../components/problem.ts";
import { nextSort, readSort, sortText, Table } from "../../components/table/index.ts";
import { useList } from "../../data/calls.ts";
import { useNow } from "../../data/clock.ts";
import { initialLayout, modelColumns } from "./columns.tsx";
import { CreateModelDialog } from "./create-model-dialog.tsx";
import styles from "./page.module.css";

const route = getRouteApi("/models");

export function ModelsPage(): JSX.Element {
  const { filter = "", sort = "", archived = false } = route.useSearch();
  const navigate = route.useNavigate();
  const open = useNavigate();
  const nowMs = useNow();
  const [creating, setCreating] = useState(false);
  const order = readSort(sort);
  const models = useList(
    "listModels",
    { pageSize: 100, filter, orderBy: sort, archived, count: true },
    { watch: { kind: "models", filter, archived }, follow: true, keepPrevious: true },
  );
  const rows = models.data?.pages.flatMap(({ items }) => items) ?? [];
  const openModel = (model: string) =>
    void open({ to: "/models/$model", params: { model }, search: {} });
  return (
    <Page
      title="Models"
      verbs={[{ title: "New model", primary: true, run: () => setCreating(true) }]}
    >
      <Bar
        key={filter}
        filter={filter}
        archived={archived}
        fault={filterFault(models.error)}
        onChange={(change) => void navigate({ search: (old) => ({ ...old, ...change }) })}
      />
      {models.error !== null && filterFault(models.error) === null && (
        <ErrorNote error={models.error} onRetry={() => void models.refetch()} />
      )}
      <Table
        label="Models"
        columns={modelColumns(nowMs)}
        layout={initialLayout}
        rows={rows}
        idOf={({ name }) => name}
        total={models.data?.pages[0]?.total}
        onEnd={() => {
          if (models.hasNextPage && !models.isFetchingNextPage) void models.fetchNextPage();
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
        onOpen={({ name }) => openModel(name)}
        empty={models.isPending ? undefined : <NoModels isFiltered={filter !== ""} />}
      />
      {creating && <CreateModelDialog onClose={() => setCreating(false)} onCreated={openModel} />}
    </Page>
  );
}

type BarProps = {
  readonly filter: string;
  readonly archived: boolean;
  readonly fault: ReturnType<typeof filterFault>;
  readonly onChange: (change: { readonly filter?: string; readonly archived?: boolean }) => void;
};

function Bar({ filter, archived, fault, onChange }: BarProps): JSX.Element {
  const [text, setText] = useState(filter);
  return (
    <form
      className={styles["bar"]}
      onSubmit={(event) => {
        event.preventDefault();
        onChange({ filter: text.trim() });
      }}
    >
      <Field
        label="Filter"
        labelHidden
        data-filter
        placeholder="Filter, for example: label = vision and created_at > -7d"
        value={text}
        onChange={(event) => setText(event.target.value)}
        error={fault === null ? undefined : `Column ${fault.column}: ${fault.detail}`}
      />
      <label className={styles["check"]}>
        <input
          type="checkbox"
          checked={archived}
          onChange={(event) => onChange({ archived: event.target.checked })}
        />
        Archived too
      </label>
    </form>
  );
}

function NoModels({ isFiltered }: { readonly isFiltered: boolean }): JSX.Element {
  if (isFiltered) {
    return <EmptyState title="No model matches the filter.">Remove a condition.</EmptyState>;
  }
  return (
    <EmptyState
      title="There are no models yet."
      command="yard model register MODEL CHECKPOINT --create"
    >
      A model contains versions: pinned checkpoints, with their lineage.
    </EmptyState>
  );
}
