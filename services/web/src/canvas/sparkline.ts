/** The layout of a sparkline of one quantity over time: a line of means in a band from minimum to maximum. */

export type SparkPoint = {
  readonly x: number;
  readonly min: number;
  readonly mean: number;
  readonly max: number;
};

export type SparkLayout = {
  /** The points of an SVG polyline. */
  readonly line: string;
  /** The `d` attribute of an SVG path. */
  readonly band: string;
};

/** Lays out points in the order of x. At most one column per pixel is drawn, and no extreme is lost. */
export function sparkLayout(
  points: readonly SparkPoint[],
  size: { readonly width: number; readonly height: number },
): SparkLayout {
  const [only, second] = points;
  // A single point is drawn as a line from edge to edge, since a dot would be invisible.
  const drawn =
    only !== undefined && second === undefined ? [only, { ...only, x: only.x + 1 }] : points;
  const columns = columnsOf(drawn, size.width);
  const first = drawn[0]?.x ?? 0;
  const span = (drawn.at(-1)?.x ?? 0) - first || 1;
  const low = columns.reduce((least, { min }) => Math.min(least, min), Number.POSITIVE_INFINITY);
  const high = columns.reduce((most, { max }) => Math.max(most, max), Number.NEGATIVE_INFINITY);
  const x = (at: number) => round(((at - first) / span) * size.width);
  // A constant value is a line in the middle.
  const y = (value: number) =>
    round(high === low ? size.height / 2 : size.height * (1 - (value - low) / (high - low)));
  const upper = columns.map((column) => `${x(column.x)},${y(column.max)}`);
  const lower = columns.map((column) => `${x(column.x)},${y(column.min)}`).toReversed();
  return {
    line: columns.map((column) => `${x(column.x)},${y(column.mean)}`).join(" "),
    band: columns.length === 0 ? "" : `M${[...upper, ...lower].join("L")}Z`,
  };
}

const round = (value: number): number => Math.round(value * 10) / 10;

function columnsOf(points: readonly SparkPoint[], width: number): readonly SparkPoint[] {
  const each = Math.max(1, Math.ceil(points.length / width));
  if (each === 1) return points;
  return Array.from({ length: Math.ceil(points.length / each) }, (_, column) => {
    const some = points.slice(column * each, (column + 1) * each);
    return {
      x: some[0]?.x ?? 0,
      min: Math.min(...some.map(({ min }) => min)),
      mean: some.reduce((sum, { mean }) => sum + mean, 0) / some.length,
      max: Math.max(...some.map(({ max }) => max)),
    };
  });
}
