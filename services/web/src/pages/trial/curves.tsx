import { type JSX, useMemo, useState } from "react";
import { chartTrialOf } from "../../components/chart/line.ts";
import { MetricChart } from "../../components/chart/metric-chart.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { InView } from "../../components/in-view.tsx";
import { useCall } from "../../data/calls.ts";
import { usePoints } from "../../data/live/points.ts";
import styles from "./trial.module.css";
import { groupsOf, runStarts, type TabProps } from "./trial.ts";
import { useCheckpointSteps } from "./use-checkpoint-steps.ts";

const namesMax = 200;
/** The height of a chart with its title, buttons and caption. */
const wholeHeight = 340;

/** One chart for each scalar metric: validation first, because the search decides by it. */
export function Curves({ trial, search, live, onSearch }: TabProps): JSX.Element {
  usePoints(trial.experiment, live);
  const [smoothing, onSmoothing] = useState(0);
  const names = useCall("listTrialMetricNames", { trial: trial.id, pageSize: namesMax });
  const steps = useCheckpointSteps(trial);
  const ticks = useMemo(
    () =>
      runStarts(trial.runs, steps).map(({ step, run }) => ({
        x: step,
        look: trial.number,
        label: `run ${run} begins`,
      })),
    [trial.runs, trial.number, steps],
  );
  const drawn = useMemo(() => [chartTrialOf(trial.id)], [trial.id]);
  const experiment = useCall("getExperiment", { experiment: trial.experiment });
  const groups = groupsOf(names.data?.items ?? [], experiment.data?.metric);
  if (names.error !== null) {
    return <ErrorNote error={names.error} onRetry={() => void names.refetch()} />;
  }
  if (names.data !== undefined && groups.length === 0) {
    return (
      <EmptyState
        title={trial.endedAtMs === undefined ? "No metric yet." : "The trial reported no metric."}
      >
        Curves appear here when the trial calls <code>ctx.train.report_training_metrics</code>.
      </EmptyState>
    );
  }
  return (
    <>
      {groups.map(([group, metrics]) => (
        <section key={group} className={styles["group"]}>
          <h2>{group}</h2>
          <div className={styles["curves"]}>
            {metrics.map((name) => (
              <InView key={name} height={wholeHeight}>
                <MetricChart
                  {...{ smoothing, onSmoothing }}
                  trials={drawn}
                  group={group}
                  name={name}
                  x="step"
                  zoom={search.zoom ?? null}
                  onZoom={(zoom) => onSearch({ zoom: zoom ?? undefined })}
                  ticks={ticks}
                  syncKey={trial.id}
                />
              </InView>
            ))}
          </div>
        </section>
      ))}
    </>
  );
}
