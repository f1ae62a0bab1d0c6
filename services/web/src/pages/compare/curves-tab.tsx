import { type JSX, useCallback, useEffect, useMemo, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Legend } from "../../components/chart/legend.tsx";
import { MetricChart } from "../../components/chart/metric-chart.tsx";
import type { Focus } from "../../components/chart/use-focus.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { counted } from "../../components/format.ts";
import { InView } from "../../components/in-view.tsx";
import { readZoom, zoomText } from "../../components/zoom-text.ts";
import styles from "./compare.module.css";
import { CurvesBar } from "./curves-bar.tsx";
import { groupsMax, groupsOf, titleOf } from "./groups.ts";
import type { TabProps } from "./page.tsx";
import { bestTrials, type ShownMetrics, shownMetrics, xChoices } from "./shown.ts";
import { readGroupBy } from "./url.ts";

const chartHeight = 240;
/** The height of a chart with its title, buttons and caption. */
const wholeHeight = chartHeight + 76;
const nobody: ReadonlySet<string> = new Set();

/** A chart for each metric, with one legend for all. */
export function CurvesTab(props: TabProps): JSX.Element {
  const { comparison, search, change } = props;
  const shown = shownMetrics(comparison, search.metrics);
  const x = search.x ?? "step";
  const all = comparison.trials.length;
  const { trials, groups, entries, emphasised } = useLines(props);
  const focus = useSharedFocus(props, groups === undefined);
  const zoom = useMemo(() => readZoom(search.zoom), [search.zoom]);
  return (
    <div className={styles["curves"]}>
      <CurvesBar {...props} />
      <Faults {...props} {...{ shown, x }} groups={groups?.length ?? 0} />
      <div className={styles["split"]}>
        <aside className={styles["legend"]} aria-label={groups ? "Groups" : "Trials"}>
          <Legend {...focus} {...{ entries, emphasised }} label="Legend of all charts" />
        </aside>
        <div className={styles["charts"]}>
          {comparison.metrics.length === 0 && (
            <EmptyState title="No trial has reported a metric yet.">
              Curves appear here when a trial calls <code>ctx.train.report_training_metrics</code>.
            </EmptyState>
          )}
          {shown.shown.map(({ group, name, trials: count }, at) => (
            <section
              key={`${group} ${name}`}
              className={styles["chart"]}
              aria-label={`${group} ${name}`}
            >
              <InView height={wholeHeight} first={at === 0}>
                <MetricChart
                  {...{ trials, groups, group, name, x, zoom, emphasised }}
                  {...focus}
                  title={`${group} ${name}${count < all ? ` (${count} of ${all} trials)` : ""}`}
                  legend={false}
                  height={chartHeight}
                  syncKey="comparison"
                  smoothing={(search.smooth ?? 0) / 100}
                  onSmoothing={(share) => change({ smooth: Math.round(share * 100) || undefined })}
                  onZoom={(range) => change({ zoom: zoomText(range) })}
                  {...(groups ? {} : { onPick: props.onChoose })}
                />
              </InView>
            </section>
          ))}
        </div>
      </div>
    </div>
  );
}

/**
 * The lines that are highlighted and isolated in all charts and the legend. A trial that is isolated alone is shown in
 * the inspector; all are drawn again when it closes, and when other groups are chosen.
 */
function useSharedFocus({ search: { at, by }, onChoose }: TabProps, areTrials: boolean): Focus {
  const [highlighted, onHighlight] = useState<string | null>(null);
  const [isolated, setIsolated] = useState(nobody);
  useEffect(() => {
    if (at === undefined) setIsolated((now) => (areTrials && now.size === 1 ? nobody : now));
  }, [at, areTrials]);
  useEffect(() => setIsolated(nobody), [by]);
  const onIsolate = useCallback(
    (ids: ReadonlySet<string>) => {
      setIsolated(ids);
      const [first] = ids;
      if (areTrials && ids.size < 2) onChoose(first);
    },
    [areTrials, onChoose],
  );
  return { highlighted, onHighlight, isolated, onIsolate };
}

/** The lines of the charts, and the entries of their legend: trials or groups. */
function useLines({ comparison, search: { by: text, at } }: TabProps) {
  const trials = useMemo(
    () => comparison.trials.map(({ id, look, state }) => ({ id, label: id, look, state })),
    [comparison],
  );
  const groups = useMemo(() => {
    const by = readGroupBy(text);
    const all = by === null ? [] : groupsOf(comparison.trials, by);
    return all.length === 0 || all.length > groupsMax ? undefined : all;
  }, [comparison, text]);
  const entries = useMemo(
    () =>
      groups?.map(({ name, look, trials: members }) => ({
        id: name,
        label: `${name} (${counted(members.length, "trial")})`,
        look,
      })) ?? trials,
    [groups, trials],
  );
  const emphasised = useMemo(
    () => new Set([...bestTrials(comparison), ...(at === undefined ? [] : [at])]),
    [comparison, at],
  );
  return { trials, groups, entries, emphasised };
}

type FaultProps = TabProps & {
  readonly shown: ShownMetrics;
  readonly x: string;
  readonly groups: number;
};

/** Says which values of the link show nothing, and what to do. */
function Faults({ comparison, search, change, shown, x, groups }: FaultProps): JSX.Element {
  const by = readGroupBy(search.by);
  const count = by === null ? 0 : groupsOf(comparison.trials, by).length;
  const isKnown =
    xChoices(comparison).includes(x) || comparison.metrics.some(({ name }) => name === x);
  return (
    <>
      {shown.unknown.length > 0 && (
        <p className={styles["note"]} role="status">
          No compared trial has reported {shown.unknown.join(", ")}: choose other metrics, or{" "}
          <Button look="link" onClick={() => change({ metrics: undefined })}>
            show all
          </Button>
        </p>
      )}
      {!isKnown && (
        <p className={styles["note"]} role="status">
          No compared trial has reported the x axis {x}: choose another, or{" "}
          <Button look="link" onClick={() => change({ x: undefined, zoom: undefined })}>
            show steps
          </Button>
        </p>
      )}
      {by !== null && count > groupsMax && groups === 0 && (
        <p className={styles["note"]} role="status">
          {titleOf(by)} has {count} different values, and at most {groupsMax} groups are drawn: the
          lines are those of the trials.
        </p>
      )}
    </>
  );
}
