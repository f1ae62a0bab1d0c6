import { type JSX, useMemo } from "react";
import { useCall } from "../../app/calls.ts";
import { usePoints } from "../../app/live/points.ts";
import { MetricChart } from "../../components/chart/metric-chart.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { useCheckpointSteps } from "./use-checkpoint-steps.ts";
import { runStarts, type TabProps, trialNumber } from "./trial.ts";
import styles from "./trial.module.css";

const namesMax = 200;

/** One chart for each scalar metric: validation first, because it decides. */
export function Curves({ trial, search, live, onSearch }: TabProps): JSX.Element {
  usePoints(trial.experiment, live);
  const names = useCall("listTrialMetricNames", { trial: trial.id, pageSize: namesMax });
  const steps = useCheckpointSteps(trial);
  const ticks = useMemo(
    () =>
      runStarts(trial.runs, steps).map(({ step, run }) => ({
        x: step,
        trial: trial.number,
        label: `run ${run} begins`,
      })),
    [trial.runs, trial.number, steps],
  );
  if (names.error !== null) {
    return <ErrorNote error={names.error} onRetry={() => void names.refetch()} />;
  }
  const scalars = (names.data?.items ?? [])
    .filter(({ kind }) => kind === "scalar")
    .toSorted(
      (one, other) => Number(other.group === "validation") - Number(one.group === "validation"),
    );
  if (names.data !== undefined && scalars.length === 0) {
    return (
      <EmptyState title="No metric yet.">
        Curves appear here when trial {trialNumber(trial)} calls
        <code> ctx.train.report_training_metrics</code>.
      </EmptyState>
    );
  }
  return (
    <div className={styles["curves"]}>
      {scalars.map(({ group, name }) => (
        <section key={`${group} ${name}`} className={styles["curve"]}>
          <h2>{group}</h2>
          <MetricChart
            trials={[trial.id]}
            group={group}
            name={name}
            x="step"
            zoom={search.zoom ?? null}
            onZoom={(zoom) => onSearch({ zoom: zoom ?? undefined })}
            ticks={ticks}
            syncKey={trial.id}
          />
        </section>
      ))}
    </div>
  );
}
