/** Adds live points to the series that QueryMetrics has returned. */
import type { ReplyOf, RequestInitOf } from "@trainyard/contracts";
import { own } from "../own.ts";

export type Answer = ReplyOf<"queryMetrics">;
export type Series = Answer["series"][number];
export type Point = NonNullable<ReplyOf<"followMetrics">["point"]>;

const bucketsDefault = 1_000;

/**
 * Returns the answer with the points added, or the same object if none belongs to it. A point before the end of its
 * series counts as known, so an answer that lacks earlier points must be read again.
 */
export function withPoints(
  answer: Answer,
  request: RequestInitOf<"queryMetrics">,
  points: readonly Point[],
): Answer {
  const { x = "step", to, buckets = bucketsDefault } = request;
  const group = request.group ?? "training";
  const added = Map.groupBy(
    points.filter((point) => point.group === group && !point.superseded),
    ({ trial }) => trial,
  );
  let changed = false;
  const series = answer.series.map((one) => {
    const next = (added.get(one.trial) ?? []).flatMap((point): (readonly [number, number])[] => {
      const value = own(point.metrics, one.name);
      const at = xOf(point, x);
      if (value === undefined || at === undefined || (to !== undefined && at > to)) return [];
      return [[at, value]];
    });
    const longer = appended(one, next, buckets);
    changed ||= longer !== one;
    return longer;
  });
  return changed ? { ...answer, series } : answer;
}

function xOf(point: Point, x: string): number | undefined {
  if (x === "step" || x === "") return point.stepsCompleted;
  return x === "time" ? point.reportedAtMs : own(point.metrics, x);
}

/** Appends each point as a bucket. Beyond twice the requested number of buckets, neighbours are merged. */
function appended(
  series: Series,
  points: readonly (readonly [x: number, value: number])[],
  buckets: number,
): Series {
  let last = series.xMax.at(-1) ?? Number.NEGATIVE_INFINITY;
  const beyond = points.filter(([x]) => {
    const further = x > last;
    if (further) last = x;
    return further;
  });
  if (beyond.length === 0) return series;
  const xs = beyond.map(([x]) => x);
  const values = beyond.map(([, value]) => value);
  const finite = values.map((value) => (Number.isFinite(value) ? value : Number.NaN));
  const ones = beyond.map(() => 1);
  const longer: Series = {
    ...series,
    xMin: [...series.xMin, ...xs],
    xMax: [...series.xMax, ...xs],
    count: [...series.count, ...ones],
    min: [...series.min, ...finite],
    max: [...series.max, ...finite],
    mean: [...series.mean, ...finite],
    deviation: [...series.deviation, ...finite.map((value) => value - value)],
    first: [...series.first, ...values],
    last: [...series.last, ...values],
    nans: [...series.nans, ...values.map((value) => (Number.isNaN(value) ? 1 : 0))],
    infinities: [
      ...series.infinities,
      ...values.map((value) => (Number.isFinite(value) || Number.isNaN(value) ? 0 : 1)),
    ],
  };
  return longer.xMin.length > 2 * buckets ? halved(longer) : longer;
}

/** Merges every two neighbouring buckets. */
export function halved(series: Series): Series {
  const pairs = Array.from({ length: Math.ceil(series.xMin.length / 2) }, (_, index) => 2 * index);
  const joined = (
    list: readonly number[],
    join: (a: number, b: number, index: number) => number,
  ): readonly number[] =>
    pairs.map((index) => {
      const a = list[index] ?? Number.NaN;
      const b = list[index + 1];
      return b === undefined ? a : join(a, b, index);
    });
  const finiteIn = (index: number): number =>
    (series.count[index] ?? 0) - (series.nans[index] ?? 0) - (series.infinities[index] ?? 0);
  const mean = joined(series.mean, (a, b, index) => {
    const [left, right] = [finiteIn(index), finiteIn(index + 1)];
    if (left === 0) return b;
    return right === 0 ? a : (a * left + b * right) / (left + right);
  });
  const sum = (a: number, b: number): number => a + b;
  return {
    ...series,
    xMin: joined(series.xMin, (a) => a),
    xMax: joined(series.xMax, (_, b) => b),
    count: joined(series.count, sum),
    min: joined(series.min, (a, b) => least(a, b)),
    max: joined(series.max, (a, b) => -least(-a, -b)),
    mean,
    deviation: joined(series.deviation, (_, __, index) => deviationOf(series, index, finiteIn)),
    first: joined(series.first, (a) => a),
    last: joined(series.last, (_, b) => b),
    nans: joined(series.nans, sum),
    infinities: joined(series.infinities, sum),
  };
}

const least = (a: number, b: number): number => {
  if (Number.isNaN(a)) return b;
  return Number.isNaN(b) || a < b ? a : b;
};

/** Returns the deviation of the finite values of bucket `index` and the next one together. */
function deviationOf(
  { mean, deviation }: Series,
  index: number,
  finiteIn: (index: number) => number,
): number {
  const parts = [index, index + 1]
    .map((i) => ({ n: finiteIn(i), mean: mean[i] ?? 0, deviation: deviation[i] ?? 0 }))
    .filter(({ n }) => n > 0);
  const n = parts.reduce((total, part) => total + part.n, 0);
  if (n === 0) return Number.NaN;
  const middle = parts.reduce((total, part) => total + part.n * part.mean, 0) / n;
  const variance =
    parts.reduce(
      (total, part) => total + part.n * (part.deviation ** 2 + (part.mean - middle) ** 2),
      0,
    ) / n;
  return Math.sqrt(variance);
}
