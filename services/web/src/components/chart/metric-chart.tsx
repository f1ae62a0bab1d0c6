import type { JSX } from "react";
import { Chart, type ChartOptions } from "./chart.tsx";
import type { ChartGroup, ChartTrial } from "./line.ts";
import { useSeries } from "./use-series.ts";

type Props = ChartOptions & {
  /** At most 200. */
  readonly trials: readonly ChartTrial[];
  /** Draws one line for each group of trials, and none for a single trial. */
  readonly groups?: readonly ChartGroup[] | undefined;
  /** The group of the metric, such as validation. */
  readonly group: string;
  readonly name: string;
  /** The title of the chart; absent: the name of the metric. */
  readonly title?: string;
  /** `step`, `time`, or the name of a metric in the same reports. */
  readonly x: string;
};

const captions = { pending: "Loading …", failed: "The points could not be read." } as const;

/** The chart of one metric of some trials: a zoom requests the buckets of the range. */
export function MetricChart(props: Props): JSX.Element {
  const { trials, groups, group, name, title = name, x, ...options } = props;
  const { lines, missing } = useSeries({ trials, groups, group, name, x }, props.zoom);
  const caption =
    missing !== "nothing"
      ? captions[missing]
      : lines.length === 0
        ? noPoints(group, name, x)
        : undefined;
  return (
    <Chart
      xTitle={x}
      yTitle={name}
      {...options}
      {...{ title, lines }}
      time={x === "time"}
      whole={x === "step"}
      {...(caption === undefined ? {} : { caption })}
    />
  );
}

function noPoints(group: string, name: string, x: string): string {
  const over = x === "step" || x === "time" ? "" : ` with ${x}`;
  return `None of the trials has reported ${group} ${name}${over}.`;
}
