import { getRouteApi, useRouter } from "@tanstack/react-router";
import { type JSX, useMemo, useState } from "react";
import { useCall } from "../../app/calls.ts";
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
import { MetricChoice, useMetric } from "./metric-choice.tsx";
import { ParallelCoordinates } from "./parallel-coordinates.tsx";
import type { TabProps } from "./tabs.ts";
import { columnsOf, initialLayout } from "./trial-columns.tsx";
import styles from "./trials.module.css";
import { readTrials, readZoom, trialsText, zoomText } from "./url.ts";
import { drawnMax, trialsMax, type Trial } from "./use-trials.ts";

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
  const answer = useCall(
    "listTrials",
    { experiment: id, pageSize: trialsMax, filter, orderBy: sortText(sort), count: true },
    { watch: { kind: "trials", experiment: id, filter }, keepPrevious: true, follow: true },
  );
  const trials = answer.data?.items ?? none;
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
          {answer.data !== undefined && `${count(answer.data.total ?? trials.length)} trials`}
          {selected.size > 0 && `, ${selected.size} selected`}
        </span>
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
        total={answer.data?.total}
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

/** Enter applies it. */
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

/** Over the table: the curves of the selected trials, or how hyperparameters and metric go together. */
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
    return <ParallelCoordinates experiment={experiment} trials={trials} onSelect={onSelect} />;
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
