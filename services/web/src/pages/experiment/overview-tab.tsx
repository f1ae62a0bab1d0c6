import { getRouteApi } from "@tanstack/react-router";
import { type JSX, useMemo } from "react";
import type { TrialTick } from "../../components/chart/chart.tsx";
import { MetricChart } from "../../components/chart/metric-chart.tsx";
import { chartTrialOf, trialNumberOf } from "../../components/chart/line.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { trialState } from "../../components/state.ts";
import { BestSoFar } from "./best-so-far.tsx";
import { BestTrial } from "./best-trial.tsx";
import { Importance } from "./importance.tsx";
import { MetricChoice, useMetric } from "./metric-choice.tsx";
import styles from "./overview.module.css";
import { ParetoFront } from "./pareto-front.tsx";
import type { Experiment, TabProps } from "./tabs.ts";
import { readTrials, readZoom, trialsText, zoomText } from "./url.ts";
import { type Trial, useTrials } from "./use-trials.ts";
import { WhichChoice } from "./which-choice.tsx";
import { drawnOf, readWhich } from "./which-trials.ts";

const route = getRouteApi("/experiments/$experiment");

export function OverviewTab({ experiment }: TabProps): JSX.Element {
  const { id, smallerIsBetter } = experiment;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const which = readWhich(search.drawn);
  const { trials, error, refetch, isPending } = useTrials(experiment, which);
  const selected = useMemo(() => readTrials(search.trials), [search.trials]);
  const zoom = useMemo(() => readZoom(search.zoom), [search.zoom]);
  const drawn = useMemo(
    () => drawnOf(trials, which, selected, smallerIsBetter),
    [trials, which, selected, smallerIsBetter],
  );
  const metric = useMetric(experiment, trials, search.metric);
  const x = search.x ?? "step";
  const shown = useMemo(
    () => drawn.map((trial) => chartTrialOf(trial.id, trialState(trial))),
    [drawn],
  );
  const ticks = useMemo(() => (x === "time" ? restartsOf(drawn) : []), [drawn, x]);
  const emphasised = useMemo(() => emphasisedOf(experiment, selected), [experiment, selected]);
  const set = (change: Partial<typeof search>): void =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  const pick = (picked: string): void => {
    const trial = trialNumberOf(picked);
    const next = new Set(selected);
    if (!next.delete(trial)) next.add(trial);
    set({ trials: trialsText(next) });
  };
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (trials.length === 0 && !isPending) {
    return (
      <EmptyState
        title="This experiment has no trial yet."
        command={`yard experiment logs ${id} -f`}
      >
        The search proposes the first trial when it starts.
      </EmptyState>
    );
  }
  return (
    <div className={styles["overview"]}>
      <section className={styles["curves"]} aria-label="Curves">
        <MetricChoice metric={metric} x={x} />
        <MetricChart
          trials={shown}
          group={metric.group}
          name={metric.name}
          {...{ x, zoom, emphasised, ticks }}
          syncKey={`experiment ${id}`}
          onZoom={(range) => set({ zoom: zoomText(range) })}
          onPick={pick}
        />
        <WhichChoice
          shown={drawn.length}
          total={Math.max(trials.length, isPending ? 0 : experiment.trials)}
          metric={experiment.metric}
          which={which}
          onWhich={(next) => set({ drawn: next === "best" ? undefined : next })}
        />
      </section>
      <BestTrial experiment={experiment} />
      <BestSoFar experiment={experiment} />
      <Importance experiment={experiment} />
      <ParetoFront experiment={experiment} />
    </div>
  );
}

/** The selected trials and the best one. */
function emphasisedOf(
  { id, bestTrial }: Experiment,
  selected: ReadonlySet<number>,
): ReadonlySet<string> {
  const best = bestTrial === undefined ? [] : [bestTrial];
  return new Set([...best, ...[...selected].map((number) => `${id}.${number}`)]);
}

/** The starts of the trials' later runs. */
function restartsOf(trials: readonly Trial[]): readonly TrialTick[] {
  return trials.flatMap(({ number, runs }) =>
    runs.flatMap(({ number: run, startedAtMs }) =>
      run > 1 && startedAtMs !== undefined
        ? [{ x: startedAtMs, look: number, label: `run ${run}` }]
        : [],
    ),
  );
}
