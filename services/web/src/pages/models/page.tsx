import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type JSX, useState } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { FilterField } from "../../components/filter-field.tsx";
import { listTotal, totalOf } from "../../components/list-total.ts";
import { Page } from "../../components/page/page.tsx";
import { listError } from "../../components/problem.ts";
import { nextSort, readSort, sortText, Table } from "../../components/table/index.ts";
import { useList } from "../../data/calls.ts";
import { listNamed, useLastReply } from "../../data/last-reply.ts";
import { useNow } from "../../data/clock.ts";
import { useMayAnywhere } from "../../data/may.ts";
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
  const mayCreate = useMayAnywhere()("createModel");
  const order = readSort(sort);
  const request = { pageSize: 100, filter, orderBy: sort, archived, count: true };
  const models = useList("listModels", request, {
    watch: { kind: "models", filter, archived },
    follow: true,
    keepPrevious: true,
  });
  const data = useLastReply(models, "models");
  const rows = data?.pages.flatMap(({ items }) => items) ?? [];
  const total = listTotal(data?.pages[0], rows.length, models.hasNextPage);
  const openModel = (model: string) =>
    void open({ to: "/models/$model", params: { model }, search: {} });
  return (
    <Page
      title="Models"
      verbs={mayCreate ? [{ title: "New model", primary: true, run: () => setCreating(true) }] : []}
    >
      <Bar
        filter={filter}
        archived={archived}
        error={models.error}
        onChange={(change) => void navigate({ search: (old) => ({ ...old, ...change }) })}
      />
      <Table
        label="Models"
        columns={modelColumns(nowMs)}
        layout={initialLayout}
        rows={rows}
        idOf={({ name }) => name}
        total={models.isPending || total.isEstimate ? undefined : total.total}
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
        empty={<NoModels isFiltered={filter !== ""} />}
        pending={models.isPending}
        list={listNamed(models, request)}
        error={listError(models.error)}
        onRetry={() => void models.refetch()}
        status={models.isPending ? "" : totalOf(total, "model")}
      />
      {creating && <CreateModelDialog onClose={() => setCreating(false)} onCreated={openModel} />}
    </Page>
  );
}

type BarProps = {
  readonly filter: string;
  readonly archived: boolean;
  readonly error: unknown;
  readonly onChange: (change: { readonly filter?: string; readonly archived?: boolean }) => void;
};

function Bar({ filter, archived, error, onChange }: BarProps): JSX.Element {
  return (
    <div className={styles["bar"]}>
      <FilterField
        placeholder="Filter, for example: label = vision and created_at > -7d"
        filter={filter}
        onFilter={(text) => onChange({ filter: text })}
        error={error}
      />
      <label className={styles["check"]}>
        <input
          type="checkbox"
          checked={archived}
          onChange={(event) => onChange({ archived: event.target.checked })}
        />
        Archived too
      </label>
    </div>
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
