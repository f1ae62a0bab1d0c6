import { getRouteApi, useRouter } from "@tanstack/react-router";
import { type JSX, useCallback, useMemo, useState } from "react";
import { Button } from "../../components/button.tsx";
import { trialNumberOf } from "../../components/chart/line.ts";
import { MetricChart } from "../../components/chart/metric-chart.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { count } from "../../components/format.ts";
import {
  type ColumnLayout,
  ColumnsDialog,
  layoutText,
  nextSort,
  readLayout,
  readSort,
  sortText,
  Table,
} from "../../components/table/index.ts";
import { useList } from "../../data/calls.ts";
import { HyperparameterPlots } from "./hyperparameter-plots.tsx";
import { MetricChoice, useMetric } from "./metric-choice.tsx";
import type { TabProps } from "./tabs.ts";
import { columnsOf, initialLayout } from "./trial-columns.tsx";
import styles from "./trials.module.css";
import { readTrials, readZoom, trialsText, zoomText } from "./url.ts";
import { type Trial, trialsMax } from "./use-trials.ts";
import { WhichChoice } from "./which-choice.tsx";
import { drawnMax, orderOf, whichOf } from "./which-trials.ts";

const route = getRouteApi("/experiments/$experiment");
const none: readonly Trial[] = [];

export function TrialsTab({ experiment }: TabProps): JSX.Element {
  const { id } = experiment;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { history } = useRouter();
  const set = (change: Partial<typeof search>): void =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  const filter = search.filter ?? "";
  const sort = readSort(search.sort ?? "");
  const { answer, trials, total, more } = useRows(id, filter, sortText(sort));
  const selected = useMemo(() => readTrials(search.trials), [search.trials]);
  const selection = useMemo(() => new Set([...selected].map((n) => `${id}.${n}`)), [selected, id]);
  const select = (ids: ReadonlySet<string>): void =>
    set({ trials: trialsText(new Set([...ids].map(trialNumberOf))) });
  const columns = useMemo(() => columnsOf(trials, experiment), [trials, experiment]);
  const initial = useMemo(() => initialLayout(trials, experiment), [trials, experiment]);
  const layout = readLayout(search.columns ?? "") ?? initial;
  const [choosing, setChoosing] = useState(false);
  const onLayout = (next: ColumnLayout): void =>
    set({ columns: next === initial ? undefined : layoutText(next) });
  return (
    <div className={styles["trials"]}>
      <Above experiment={experiment} trials={trials} selected={selected} onSelect={select} />
      <div className={styles["bar"]}>
        <Filter
          key={filter}
          filter={filter}
          onFilter={(text) => set({ filter: text === "" ? undefined : text })}
        />
        <span className={styles["note"]} role="status">
          {statusText(answer.isSuccess && trials.length >= total ? total : null, selected.size)}
        </span>
        <WhichChoice
          shown={trials.length}
          total={answer.data === undefined ? 0 : total}
          metric={experiment.metric}
          which={whichOf(sortText(sort), experiment.smallerIsBetter)}
          orderText={`the first by ${sort?.field ?? "number"}`}
          onWhich={(which) => set({ sort: orderOf(which, experiment.smallerIsBetter) })}
        />
        {selected.size > 0 && <Button onClick={() => select(new Set())}>Select none</Button>}
        <Button onClick={() => setChoosing(true)}>Columns</Button>
      </div>
      {answer.error !== null && <ErrorNote error={answer.error} />}
      <Table
        label="Trials"
        columns={columns}
        layout={layout}
        onLayout={onLayout}
        rows={trials}
        idOf={(trial) => trial.id}
        total={answer.data === undefined ? undefined : total}
        onEnd={more}
        sort={sort}
        onSort={(field) => set({ sort: sortText(nextSort(sort, field)) || undefined })}
        selection={selection}
        onSelect={select}
        onOpen={(trial) => history.push(`/trials/${trial.id}`)}
        empty={answer.isPending ? null : <Empty id={id} filter={filter} />}
      />
      <ColumnsDialog
        open={choosing}
        onClose={() => setChoosing(false)}
        {...{ columns, layout, onLayout, initial }}
      />
    </div>
  );
}

/** The number of trials is left out if `WhichChoice` shows it. */
function statusText(trials: number | null, selected: number): string {
  const parts = [
    ...(trials === null ? [] : [`${count(trials)} trials`]),
    ...(selected === 0 ? [] : [`${count(selected)} selected`]),
  ];
  return parts.join(", ");
}

/** The loaded trials, their total number, and the function that loads more. */
function useRows(experiment: string, filter: string, orderBy: string) {
  const answer = useList(
    "listTrials",
    { experiment, pageSize: trialsMax, filter, orderBy, count: true },
    {
      watch: { kind: "trials", experiment, filter },
      keepPrevious: true,
      follow: true,
      order: orderBy === "" ? "oldest first" : undefined,
    },
  );
  const { data, hasNextPage, isFetching, fetchNextPage } = answer;
  const trials = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? none, [data]);
  const more = useCallback((): void => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  return { answer, trials, total: Math.max(data?.pages[0]?.total ?? 0, trials.length), more };
}

function Empty({ id, filter }: { readonly id: string; readonly filter: string }): JSX.Element {
  return filter === "" ? (
    <EmptyState
      title="This experiment has no trial yet."
      command={`yard experiment logs ${id} -f`}
    />
  ) : (
    <EmptyState title="No trial fits the filter." command={`yard trial list ${id}`} />
  );
}

type FilterProps = { readonly filter: string; readonly onFilter: (text: string) => void };

/** The filter of the table; Enter applies it. */
function Filter({ filter, onFilter }: FilterProps): JSX.Element {
  const [text, setText] = useState(filter);
  return (
    <form
      className={styles["filter"]}
      onSubmit={(event) => {
        event.preventDefault();
        onFilter(text.trim());
      }}
    >
      <Field
        label="Filter"
        labelHidden
        placeholder="Filter: metrics.loss < 0.2 and hparams.lr > 1e-3"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
    </form>
  );
}

type AboveProps = TabProps & {
  readonly trials: readonly Trial[];
  readonly selected: ReadonlySet<number>;
  readonly onSelect: (ids: ReadonlySet<string>) => void;
};

/** Above the table: the curves of the selected trials, or the plots of hyperparameters against the metric. */
function Above({ experiment, trials, selected, onSelect }: AboveProps): JSX.Element {
  const { id } = experiment;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const metric = useMetric(experiment, trials, search.metric);
  const zoom = useMemo(() => readZoom(search.zoom), [search.zoom]);
  const ids = useMemo(
    () => [...selected].slice(0, drawnMax).map((number) => `${id}.${number}`),
    [selected, id],
  );
  if (selected.size === 0) {
    return <HyperparameterPlots experiment={experiment} trials={trials} onSelect={onSelect} />;
  }
  const x = search.x ?? "step";
  return (
    <section className={styles["above"]} aria-label="Curves of the selected trials">
      <MetricChoice metric={metric} x={x} />
      <MetricChart
        trials={ids}
        group={metric.group}
        name={metric.name}
        {...{ x, zoom }}
        syncKey={`experiment ${id}`}
        onZoom={(range) =>
          void navigate({ search: (now) => ({ ...now, zoom: zoomText(range) }), replace: true })
        }
      />
    </section>
  );
}
