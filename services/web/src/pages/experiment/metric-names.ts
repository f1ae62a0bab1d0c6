/** The metrics and the x axes that an experiment's curves can have. */
import { isPositionMetric } from "@trainyard/contracts/position-metrics";

export type MetricName = { readonly group: string; readonly name: string };
export type ReportedName = MetricName & { readonly kind: string };

export const textOf = ({ group, name }: MetricName): string => `${group} ${name}`;

/** Reads "validation loss"; null for a text without a group, and for a position. */
export function readMetric(text: string | undefined): MetricName | null {
  const gap = text?.indexOf(" ") ?? -1;
  if (text === undefined || gap < 0) return null;
  const name = text.slice(gap + 1);
  return isPositionMetric(name) ? null : { group: text.slice(0, gap), name };
}

/** The metrics to choose from: those of `always` first, followed by the other reported scalars without positions. */
export function metricsOf(
  reported: readonly ReportedName[],
  always: readonly MetricName[],
): readonly MetricName[] {
  const scalars = reported.filter(({ kind, name }) => kind === "scalar" && !isPositionMetric(name));
  const named = new Map(
    [...always, ...scalars].map(({ group, name }) => [textOf({ group, name }), { group, name }]),
  );
  return [...named.values()];
}

/** The x axes for a metric: step, time, and the other scalars in the same reports, positions first. */
export function axesOf(reported: readonly ReportedName[], of: MetricName): readonly string[] {
  const beside = reported
    .filter(({ group, kind, name }) => kind === "scalar" && group === of.group && name !== of.name)
    .map(({ name }) => name);
  const positions = beside.filter(isPositionMetric);
  return [...new Set(["step", "time", ...positions, ...beside])];
}

/** Writes metrics for the URL: "validation loss~training loss". */
export function metricsText(metrics: readonly MetricName[]): string {
  return metrics.map((one) => textOf(one).replaceAll("%", "%25").replaceAll("~", "%7E")).join("~");
}

/** Reads metrics of the URL, at most as many as a page draws. Leaves out positions and what is no metric. */
export function readMetrics(text: string | undefined): readonly MetricName[] {
  const texts = (text ?? "")
    .split("~")
    .map((one) => one.replaceAll("%7E", "~").replaceAll("%25", "%"));
  return [...new Set(texts)].flatMap((one) => readMetric(one) ?? []).slice(0, metricsMax);
}

/** The charts that a page draws at most. */
export const metricsMax = 50;

/** The metrics of the curves until others are chosen: the searcher's, and its counterpart of the training. */
export function usualMetrics(
  searchers: string,
  reported: readonly MetricName[],
): readonly MetricName[] {
  const trained = reported.filter(({ group, name }) => group === "training" && name === searchers);
  return [{ group: "validation", name: searchers }, ...trained];
}
