import { getRouteApi } from "@tanstack/react-router";
import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Field } from "../../components/field.tsx";
import { counted } from "../../components/format.ts";
import { noSelection, type Selection, Table } from "../../components/table/index.ts";
import { useCall, useList } from "../../data/calls.ts";
import { listNamed, useLastReply } from "../../data/last-reply.ts";
import { useNow } from "../../data/clock.ts";
import { conditionsOf } from "./compare.ts";
import { Comparison } from "./comparison.tsx";
import styles from "./page.module.css";
import { type Version, versionColumns, versionLayout } from "./version-columns.tsx";
import { VersionInspector } from "./version-inspector.tsx";

const route = getRouteApi("/models/$model");

export function VersionsTab({ model }: { readonly model: string }): JSX.Element {
  const { where = "", best = "", version, compare = [] } = route.useSearch();
  const navigate = route.useNavigate();
  const nowMs = useNow();
  const [selection, setSelection] = useState<Selection>(noSelection);
  const { rows, name, error, isPending, onEnd } = useVersions(model, where, best);
  const compared = rows.filter((row) => compare.includes(row.number));
  const shown = rows.find((row) => row.number === version);
  return (
    <div className={styles["versions"]}>
      <Bar
        key={`${where} ${best}`}
        where={where}
        best={best}
        onChange={(change) => void navigate({ search: (old) => ({ ...old, ...change }) })}
      >
        <Button
          disabled={selection.size < 2}
          onClick={() =>
            void navigate({ search: (old) => ({ ...old, compare: [...selection].map(Number) }) })
          }
        >
          Compare {selection.size < 2 ? "versions" : selection.size}
        </Button>
      </Bar>
      <div className={styles["split"]}>
        <Table
          label="Versions"
          columns={versionColumns(nowMs)}
          layout={versionLayout}
          rows={rows}
          idOf={(row) => String(row.number)}
          selection={selection}
          onSelect={setSelection}
          onEnd={onEnd}
          activeId={version === undefined ? undefined : String(version)}
          onActive={(row) =>
            void navigate({ search: (old) => ({ ...old, version: row.number }), replace: true })
          }
          empty={<NoVersions model={model} isFiltered={where !== ""} />}
          pending={isPending}
          list={name}
          error={error}
          status={isPending ? "" : counted(rows.length, "version")}
        />
        {shown !== undefined && (
          <VersionInspector
            version={shown}
            onClose={() =>
              void navigate({ search: ({ version: _was, ...rest }) => rest, replace: true })
            }
          />
        )}
      </div>
      {compared.length > 1 && (
        <Comparison
          versions={compared}
          onClose={() => void navigate({ search: ({ compare: _was, ...rest }) => rest })}
        />
      )}
    </div>
  );
}

/** All versions, page by page, or the best hundred by a metric. */
function useVersions(model: string, where: string, best: string) {
  const conditions = conditionsOf(where);
  const watch = { kind: "models", id: model };
  const request = { model, where: conditions, pageSize: 100 };
  const all = useList("listModelVersions", request, {
    watch,
    follow: true,
    enabled: best === "",
    keepPrevious: true,
  });
  const ranked = useCall(
    "bestModelVersions",
    { model, where: conditions, metric: best, limit: 100 },
    { watch, follow: true, enabled: best !== "", keepPrevious: true },
  );
  const isRanked = best !== "";
  const bestOnes = useLastReply(ranked, model);
  const pages = useLastReply(all, model)?.pages;
  const rows: readonly Version[] = isRanked
    ? (bestOnes?.items ?? [])
    : (pages?.flatMap(({ items }) => items) ?? []);
  return {
    rows,
    name: listNamed(isRanked ? ranked : all, { ...request, best }),
    error: isRanked ? ranked.error : all.error,
    isPending: isRanked ? ranked.isPending : all.isPending,
    onEnd: () => {
      if (!isRanked && all.hasNextPage && !all.isFetchingNextPage) void all.fetchNextPage();
    },
  };
}

type BarProps = {
  readonly where: string;
  readonly best: string;
  readonly onChange: (change: { readonly where: string; readonly best: string }) => void;
  readonly children: JSX.Element;
};

function Bar({ where, best, onChange, children }: BarProps): JSX.Element {
  const [conditions, setConditions] = useState(where);
  const [metric, setMetric] = useState(best);
  return (
    <form
      className={styles["bar"]}
      onSubmit={(event) => {
        event.preventDefault();
        onChange({ where: conditions.trim(), best: metric.trim() });
      }}
    >
      <Field
        label="Conditions"
        labelHidden
        data-filter
        placeholder="Conditions, for example: metrics.loss<0.5 and label=vision"
        value={conditions}
        onChange={(event) => setConditions(event.target.value)}
      />
      <Field
        label="Best by metric"
        labelHidden
        placeholder="Best by metric"
        value={metric}
        onChange={(event) => setMetric(event.target.value)}
      />
      <Button type="submit">Apply</Button>
      {children}
    </form>
  );
}

function NoVersions(props: { readonly model: string; readonly isFiltered: boolean }): JSX.Element {
  if (props.isFiltered) {
    return <EmptyState title="No version meets the conditions.">Remove a condition.</EmptyState>;
  }
  return (
    <EmptyState
      title="This model has no versions yet."
      command={`yard model register ${props.model} CHECKPOINT`}
    >
      A version is a pinned checkpoint, with the trial, the code and the data it came from.
    </EmptyState>
  );
}
