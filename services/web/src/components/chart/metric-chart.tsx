import { type JSX, useMemo } from "react";
import { useCall } from "../../data/calls.ts";
import { Chart, type TrialTick } from "./chart.tsx";
import { type Line, lineOf } from "./line.ts";
import type { Range } from "./scale.ts";

type Props = {
  /** Ids of trials, as 12.3; at most 200. */
  readonly trials: readonly string[];
  readonly group: string;
  readonly name: string;
  /** `step`, `time`, or the name of a metric in the same reports. */
  readonly x: string;
  readonly zoom: Range | null;
  readonly onZoom: (zoom: Range | null) => void;
  /** Numbers of trials that keep their hue among many. */
  readonly emphasised?: ReadonlySet<number>;
  readonly ticks?: readonly TrialTick[];
  readonly syncKey: string;
  readonly onPick?: (trial: number) => void;
  readonly height?: number;
};

const noLines: readonly Line[] = [];
/** A single line has as many buckets as it may have pixels; each of many lines has fewer. */
const bucketsMax = 1_000;
const bucketsMin = 200;
const bucketsOfAll = 40_000;

/** The chart of one metric of some trials: a zoom requests the buckets of the range. */
export function MetricChart(props: Props): JSX.Element {
  const { trials, group, name, x, zoom, ...others } = props;
  const buckets = Math.max(
    bucketsMin,
    Math.min(bucketsMax, Math.floor(bucketsOfAll / Math.max(1, trials.length))),
  );
  const request = { trials: [...trials], group, names: [name], x, buckets };
  const enabled = trials.length > 0;
  const whole = useCall("queryMetrics", request, { enabled, keepPrevious: true });
  const [from, to] = zoom ?? [];
  const part = useCall(
    "queryMetrics",
    { ...request, ...(from === undefined || to === undefined ? {} : { from, to }) },
    { enabled: enabled && zoom !== null, keepPrevious: true },
  );
  const answer = zoom !== null && part.data !== undefined ? part.data : whole.data;
  const caption = whole.error === null ? "Loading …" : "The points could not be read.";
  const rest = { ...others, ...(answer === undefined ? { caption } : {}) };
  const lines = useMemo(
    () => answer?.series.filter(({ xMin }) => xMin.length > 0).map(lineOf) ?? noLines,
    [answer],
  );
  const kind = { time: x === "time", whole: x === "step" };
  return <Chart title={name} lines={lines} xLabel={x} zoom={zoom} {...kind} {...rest} />;
}
