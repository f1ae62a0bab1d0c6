import { useRouter } from "@tanstack/react-router";
import { ChevronDown } from "lucide-react";
import { type JSX, useCallback, useState } from "react";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { count } from "../../components/format.ts";
import { totalOf } from "../../components/list-total.ts";
import { Page } from "../../components/page/page.tsx";
import type { Verb } from "../../components/page/verbs.tsx";
import { experimentPath } from "../../components/paths.ts";
import { listError } from "../../components/problem.ts";
import {
  layoutText,
  nextSort,
  noSelection,
  readLayout,
  readSort,
  type Selection,
  sortText,
  Table,
} from "../../components/table/index.ts";
import { useNow } from "../../data/clock.ts";
import { BulkBar } from "./bulk-bar.tsx";
import {
  attributeColumn,
  attributesIn,
  columnsOf,
  giveWay,
  initialLayout,
  type Row,
} from "./columns.tsx";
import { DeletedDialog } from "./deleted-dialog.tsx";
import { ExperimentInspector } from "./experiment-inspector.tsx";
import { exportCsv } from "./export-csv.ts";
import { FilterBar } from "./filter-bar.tsx";
import { ListColumns } from "./list-columns.tsx";
import styles from "./page.module.css";
import { PlaceTree } from "./place-tree.tsx";
import { experimentsRoute } from "./route.ts";
import { changedSearch, type Search, type SearchChange } from "./search.ts";
import { useCsv } from "./use-csv.ts";
import { useExperiments } from "./use-experiments.ts";
import { ViewsMenu } from "./views-menu.tsx";

export function ExperimentsPage(): JSX.Element {
  const search = experimentsRoute.useSearch();
  const navigate = experimentsRoute.useNavigate();
  const [open, setOpen] = useState<"columns" | "deleted" | "places" | null>(null);
  const [selection, setSelection] = useState<Selection>(noSelection);
  const layout = readLayout(search.columns ?? "") ?? initialLayout;
  const attributes = attributesIn(layout);
  const shown = useExperiments(search, attributes);
  const [editing, setEditing] = useState<string | null>(null);
  const columns = [
    ...columnsOf({ nowMs: useNow(), editing, onEdit: setEditing }),
    ...attributes.map((field) => attributeColumn(field, shown.rows)),
  ];
  const change = useCallback(
    (next: SearchChange, replace = false) =>
      void navigate({ search: (now: Search) => changedSearch(now, next), replace }),
    [navigate],
  );
  const isPlaces = open === "places";
  const close = (): void => setOpen(null);
  const changePlace = (next: SearchChange): void => {
    close();
    change(next);
  };
  const csv = useCsv(() => {
    const selected = shown.rows.filter(({ id }) => selection.has(id));
    return exportCsv(search, columns, layout, selected);
  });
  const verbs = [
    { title: "Columns", run: () => setOpen("columns") },
    csv,
    ...switches(search, change),
    { title: "Deleted experiments", run: () => setOpen("deleted") },
  ];
  const isEditing = editing !== null;
  const edits = { selection, setSelection, setEditing, isEditing };
  const table = { search, change, layout, columns, shown, ...edits };
  return (
    <Page title="Experiments" verbs={verbs}>
      <div className={styles["page"]}>
        <PlaceTree {...{ search, isOpen: isPlaces, onClose: close }} onChange={changePlace} />
        <div className={styles["list"]}>
          <div className={styles["bar"]}>
            <PlaceButton search={search} isOpen={isPlaces} onOpen={setOpen} />
            <FilterBar
              filter={search.filter ?? ""}
              onFilter={(filter) => change({ filter })}
              error={shown.list.error}
            />
            <ViewsMenu search={search} onOpen={(view) => void navigate({ search: view })} />
          </div>
          <Rows {...table} />
        </div>
        <Inspected search={search} rows={shown.rows} onClose={() => change({ at: undefined })} />
      </div>
      <ListColumns
        open={open === "columns"}
        onClose={close}
        columns={columns}
        layout={layout}
        onLayout={(next) =>
          change({ columns: next === initialLayout ? undefined : layoutText(next) }, true)
        }
        rows={shown.rows}
      />
      {open === "deleted" && <DeletedDialog onClose={close} />}
    </Page>
  );
}

/** Verbs that change which rows are shown, and their height. */
function switches({ archived, compact }: Search, change: (next: SearchChange) => void): Verb[] {
  return [
    {
      title: archived === true ? "Leave out archived" : "Show archived",
      run: () => change({ archived: archived !== true }),
    },
    {
      title: compact === true ? "Normal rows" : "Compact rows",
      run: () => change({ compact: compact !== true }),
    },
  ];
}

/** In a narrow window this button opens the tree of places. */
function PlaceButton(props: {
  readonly search: Search;
  readonly isOpen: boolean;
  readonly onOpen: (open: "places" | null) => void;
}): JSX.Element {
  const { workspace, project } = props.search;
  return (
    <Button
      className={styles["placeButton"]}
      aria-expanded={props.isOpen}
      onClick={() => props.onOpen(props.isOpen ? null : "places")}
    >
      {[workspace, project].filter((name) => name !== undefined).join(" / ") || "All workspaces"}
      <ChevronDown size={14} aria-hidden />
    </Button>
  );
}

type RowsProps = {
  readonly search: Search;
  readonly change: (change: SearchChange, replace?: boolean) => void;
  readonly layout: ReturnType<typeof readLayout> & object;
  readonly columns: readonly ReturnType<typeof attributeColumn>[];
  readonly shown: ReturnType<typeof useExperiments>;
  readonly selection: Selection;
  readonly setSelection: (selection: Selection) => void;
  readonly setEditing: (experiment: string) => void;
  /** The labels of a row are edited. */
  readonly isEditing: boolean;
};

function Rows(props: RowsProps): JSX.Element {
  const { search, change, layout, columns, shown, selection, setSelection } = props;
  const { setEditing, isEditing } = props;
  const { history } = useRouter();
  const { list, name, rows, more, total } = shown;
  const sort = readSort(search.sort ?? "");
  return (
    <Table
      label="Experiments"
      columns={columns}
      layout={layout}
      onLayout={(next) => change({ columns: layoutText(next) }, true)}
      giveWay={search.columns === undefined ? giveWay(isEditing) : undefined}
      rows={rows}
      idOf={({ id }) => id}
      total={total.isEstimate ? undefined : total.total}
      onEnd={more}
      sort={sort}
      onSort={(field) => change({ sort: sortText(nextSort(sort, field)) })}
      selection={selection}
      onSelect={setSelection}
      onActive={({ id }) => {
        // The table tells it a moment later, when an action on the row may have led to another page.
        if (history.location.pathname === "/experiments") change({ at: id }, true);
      }}
      onOpen={({ id }) => history.push(experimentPath(id))}
      onKey={(key, { id }) => {
        if (key === "l") setEditing(id);
        if (key === "Escape") change({ at: undefined }, true);
        return key === "l" || key === "Escape";
      }}
      activeId={search.at}
      compact={search.compact ?? false}
      empty={list.isSuccess && <Empty search={search} />}
      pending={list.isPending}
      list={name}
      error={listError(list.error)}
      onRetry={() => void list.refetch()}
      status={
        list.isPending
          ? ""
          : `${totalOf(total, "experiment")}${rows.length < total.total ? `, ${count(rows.length)} loaded` : ""}`
      }
      actions={<BulkBar selection={selection} rows={rows} onSelect={setSelection} />}
    />
  );
}

function Empty({ search }: { readonly search: Search }): JSX.Element {
  const isAll = search.filter === undefined && search.workspace === undefined;
  if (!isAll) return <EmptyState title="No experiment matches." />;
  return (
    <EmptyState
      title="There is no experiment yet."
      command="yard experiment create examples/iris/search.yaml examples/iris"
    >
      This command submits the search of the example iris; it takes about a minute.
    </EmptyState>
  );
}

function Inspected(props: {
  readonly search: Search;
  readonly rows: readonly Row[];
  readonly onClose: () => void;
}): JSX.Element | null {
  const row = props.rows.find(({ id }) => id === props.search.at);
  return row === undefined ? null : <ExperimentInspector row={row} onClose={props.onClose} />;
}
