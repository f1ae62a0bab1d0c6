import { getRouteApi, useRouter } from "@tanstack/react-router";
import { type JSX, useCallback, useMemo, useState } from "react";
import { Button } from "../../components/button.tsx";
import { chartTrialOf, trialNumberOf } from "../../components/chart/line.ts";
import { MetricChart } from "../../components/chart/metric-chart.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { FilterField } from "../../components/filter-field.tsx";
import { count, counted } from "../../components/format.ts";
import { exactly, type ListTotal, listTotal } from "../../components/list-total.ts";
import { listError } from "../../components/problem.ts";
import { SkeletonBlock } from "../../components/skeleton.tsx";
import { trialState } from "../../components/state.ts";
import {
  type ColumnLayout,
  ColumnsDialog,
  layoutText,
  nextSort,
  readLayout,
  readSort,
  type Sort,
  sortText,
  Table,
} from "../../components/table/index.ts";
import { useTensorBoard } from "../../components/task-page/use-tensorboard.tsx";
import { useList } from "../../data/calls.ts";
import { listNamed, useLastReply } from "../../data/last-reply.ts";
import { CompareSelected } from "./compare-selected.tsx";
import { HyperparameterPlots, usePlotted } from "./hyperparameter-plots.tsx";
import { MetricChoice, useMetric } from "./metric-choice.tsx";
import { requestedOrder, ordered, trialSort } from "./ordered.ts";
import type { Experiment, TabProps } from "./tabs.ts";
import { columnsOf, initialLayout } from "./trial-columns.tsx";
import styles from "./trials.module.css";
import { readTrials, readZoom, trialsText, zoomText } from "./url.ts";
import type { Trial } from "./use-trials.ts";
import { WhichChoice } from "./which-choice.tsx";
import { drawnMax, orderOf, trialsMax, whichOf } from "./which-trials.ts";

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
  const sort = trialSort(search.sort, experiment);
  const { answer, list, trials, total, more } = useRows(experiment, filter, sort);
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
      <Above isPending={answer.isPending} {...{ experiment, trials, selected }} onSelect={select} />
      <Bar
        {...{ experiment, filter, sort, set }}
        error={answer.error}
        shown={trials.length}
        total={answer.data === undefined ? exactly(0) : total}
        onColumns={() => setChoosing(true)}
      />
      <Table
        label="Trials"
        columns={columns}
        layout={layout}
        onLayout={onLayout}
        rows={trials}
        idOf={(trial) => trial.id}
        total={answer.data === undefined || total.isEstimate ? undefined : total.total}
        onEnd={more}
        sort={sort}
        onSort={(field) => set({ sort: sortText(nextSort(sort, field)) || undefined })}
        selection={selection}
        onSelect={select}
        onOpen={(trial) => history.push(`/trials/${trial.id}`)}
        empty={<Empty id={id} filter={filter} />}
        pending={answer.isPending}
        list={list}
        error={listError(answer.error)}
        onRetry={() => void answer.refetch()}
        status={statusText(
          !answer.isPending && trials.length >= total.total ? total.total : null,
          selected.size,
        )}
        actions={
          selected.size > 0 && <Chosen trials={selection} onNone={() => select(new Set())} />
        }
      />
      <ColumnsDialog
        open={choosing}
        onClose={() => setChoosing(false)}
        {...{ columns, layout, onLayout, initial }}
      />
    </div>
  );
}

type ChosenProps = { readonly trials: ReadonlySet<string>; readonly onNone: () => void };

/** The actions on the selected trials: one TensorBoard of them, and their comparison. */
function Chosen({ trials, onNone }: ChosenProps): JSX.Element {
  const { verbs, dialog } = useTensorBoard(...trials);
  return (
    <>
      {verbs.map(({ title, disabled, run }) => (
        <Button key={title} disabled={disabled === true} onClick={run}>
          {title}
        </Button>
      ))}
      <CompareSelected ids={trials} />
      <Button onClick={onNone}>Select none</Button>
      {dialog}
    </>
  );
}

type BarProps = TabProps & {
  readonly filter: string;
  readonly sort: Sort | null;
  readonly set: (change: { filter?: string | undefined; sort?: string }) => void;
  readonly error: unknown;
  readonly shown: number;
  readonly total: ListTotal;
  readonly onColumns: () => void;
};

/** Between the drawings and the table: the filter, which trials are read, the columns. */
function Bar(props: BarProps): JSX.Element {
  const { experiment, filter, sort, set, error, shown, total, onColumns } = props;
  const { metric, smallerIsBetter } = experiment;
  return (
    <div className={styles["bar"]}>
      <FilterField
        placeholder="Filter: metrics.loss < 0.2 and hparams.lr > 1e-3"
        filter={filter}
        onFilter={(text) => set({ filter: text === "" ? undefined : text })}
        error={error}
      />
      <WhichChoice
        {...{ shown, total, metric }}
        which={whichOf(sortText(sort), smallerIsBetter)}
        orderText={`the first by ${sort?.field ?? "number"}`}
        onWhich={(which) => set({ sort: orderOf(which, smallerIsBetter) })}
      />
      <Button onClick={onColumns}>Columns</Button>
    </div>
  );
}

/** The number of trials is left out if `WhichChoice` shows it. */
function statusText(trials: number | null, selected: number): string {
  const parts = [
    ...(trials === null ? [] : [counted(trials, "trial")]),
    ...(selected === 0 ? [] : [`${count(selected)} selected`]),
  ];
  return parts.join(", ");
}

/** The loaded trials, their total number, and the function that loads more. */
function useRows(of: Experiment, filter: string, sort: Sort | null) {
  const experiment = of.id;
  const orderBy = requestedOrder(sort, of);
  const request = { experiment, pageSize: trialsMax, filter, orderBy, count: true };
  const answer = useList("listTrials", request, {
    watch: { kind: "trials", experiment, filter },
    keepPrevious: true,
    follow: true,
    order: orderBy === "" ? "oldest first" : undefined,
  });
  const { hasNextPage, isFetching, fetchNextPage } = answer;
  const data = useLastReply(answer, experiment);
  const order = sortText(sort);
  const trials = useMemo(() => {
    const loaded = data?.pages.flatMap(({ items }) => items) ?? none;
    return ordered(loaded, readSort(order));
  }, [data, order]);
  const more = useCallback((): void => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  return {
    answer,
    list: listNamed(answer, [request, order]),
    trials,
    // The experiment knows the exact number of its trials.
    total:
      hasNextPage && filter === ""
        ? exactly(Math.max(of.trials, trials.length))
        : listTotal(data?.pages[0], trials.length, hasNextPage),
    more,
  };
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

type AboveProps = TabProps & {
  readonly isPending: boolean;
  readonly trials: readonly Trial[];
  readonly selected: ReadonlySet<number>;
  readonly onSelect: (ids: ReadonlySet<string>) => void;
};

/** The height of the drawings above the table, which is the same for each of them: a selection moves no row. */
const aboveHeight = 372;
/** The rest of the height has the choices, the titles of the chart, and two rows of its legend. */
const plotHeight = aboveHeight - 76 - 48;

/**
 * Above the table: the curves of the selected trials, or the plots of hyperparameters against the metric. Where no
 * hyperparameter differs, the curves are of all trials.
 */
function Above(props: AboveProps): JSX.Element {
  return (
    <div className={styles["above"]}>
      {props.isPending ? <SkeletonBlock height={aboveHeight} /> : <Drawings {...props} />}
    </div>
  );
}

function Drawings(props: AboveProps): JSX.Element | null {
  const { experiment, trials, selected, onSelect } = props;
  const plotted = usePlotted(experiment, trials);
  const all = useMemo(() => trials.map(({ number }) => number), [trials]);
  if (selected.size > 0) {
    return <Curves {...props} label="Curves of the selected trials" numbers={[...selected]} />;
  }
  if (plotted !== null) return <HyperparameterPlots {...{ experiment, plotted, onSelect }} />;
  return trials.length === 0 ? null : (
    <Curves {...props} label="Curves of the trials" numbers={all} />
  );
}

type CurvesProps = AboveProps & { readonly label: string; readonly numbers: readonly number[] };

function Curves({ experiment, trials, label, numbers }: CurvesProps): JSX.Element {
  const { id } = experiment;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const metric = useMetric(experiment, trials, search.metric);
  const zoom = useMemo(() => readZoom(search.zoom), [search.zoom]);
  const key = numbers.slice(0, drawnMax).join();
  const shown = useMemo(() => {
    const states = new Map(trials.map((trial) => [trial.id, trialState(trial)]));
    const named = key.split(",").map((number) => `${id}.${number}`);
    return named.map((trial) => chartTrialOf(trial, states.get(trial)));
  }, [key, id, trials]);
  const x = search.x ?? "step";
  return (
    <section aria-label={label}>
      <MetricChoice metric={metric} x={x} />
      <MetricChart
        trials={shown}
        group={metric.group}
        name={metric.name}
        height={plotHeight}
        {...{ x, zoom }}
        syncKey={`experiment ${id}`}
        onZoom={(range) =>
          void navigate({ search: (now) => ({ ...now, zoom: zoomText(range) }), replace: true })
        }
      />
    </section>
  );
}
