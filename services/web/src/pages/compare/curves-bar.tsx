import type { JSX } from "react";
import { Button } from "../../components/button.tsx";
import { Menu } from "../../components/menu.tsx";
import styles from "./compare.module.css";
import type { ComparedMetric } from "./comparison.ts";
import { groupChoices } from "./groups.ts";
import type { TabProps } from "./page.tsx";
import { shownMetrics, xChoices } from "./shown.ts";
import { fits, metricsText, metricText, readGroupBy } from "./url.ts";

/** The choices of the curves: groups, x axis, metrics. */
export function CurvesBar({ comparison, search, change }: TabProps): JSX.Element {
  const by = readGroupBy(search.by);
  const x = search.x ?? "step";
  const { shown } = shownMetrics(comparison, search.metrics);
  return (
    <div className={styles["bar"]}>
      <label>
        Group by{" "}
        <select
          value={by === null ? "" : search.by}
          onChange={({ target }) => change({ by: target.value || undefined })}
        >
          <option value="">nothing: each trial</option>
          {groupChoices(comparison.trials, by).map(({ text, title }) => (
            <option key={text} value={text}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        over{" "}
        <select
          value={x}
          onChange={({ target: { value } }) =>
            change({ x: value === "step" ? undefined : value, zoom: undefined })
          }
        >
          {[...new Set([...xChoices(comparison), x])].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <MetricsMenu {...{ search, change, shown }} metrics={comparison.metrics} />
      {search.zoom !== undefined && (
        <Button onClick={() => change({ zoom: undefined })}>Show the whole range</Button>
      )}
    </div>
  );
}

type MenuProps = Pick<TabProps, "search" | "change"> & {
  readonly metrics: readonly ComparedMetric[];
  readonly shown: readonly ComparedMetric[];
};

/** Chooses the metrics that have a chart. A choice that the link has no room for is disabled. */
function MetricsMenu({ search, change, metrics, shown }: MenuProps): JSX.Element {
  const isAll = search.metrics === undefined;
  const chosen = new Set(isAll ? [] : shown.map(metricText));
  return (
    <Menu
      trigger={
        <Button>
          Metrics: {isAll ? `all ${metrics.length}` : `${shown.length} of ${metrics.length}`}
        </Button>
      }
      groups={[
        [
          {
            title: "All metrics",
            checked: isAll,
            onSelect: () => change({ metrics: undefined }),
          },
        ],
        metrics.map((metric) => {
          const text = metricText(metric);
          const next = new Set(chosen);
          if (!next.delete(text)) next.add(text);
          const written = metricsText([...next]);
          const hasRoom = fits(search, { metrics: written });
          return {
            title: text,
            checked: chosen.has(text),
            disabled: !hasRoom,
            note: hasRoom ? undefined : "The link has no room for a further metric.",
            onSelect: () => change({ metrics: written }),
          };
        }),
      ]}
    />
  );
}
