/** Positions of points by two values each, in a box whose y axis points upwards. */
export type Box = { readonly width: number; readonly height: number; readonly margin: number };

/**
 * Returns positions in the order of the values, NaN for values that are not finite. All points are within the margins.
 */
export function scatterOf(
  values: readonly (readonly [number, number])[],
  { width, height, margin }: Box,
): readonly { readonly x: number; readonly y: number }[] {
  const across = axis(values.map(([x]) => x));
  const up = axis(values.map(([, y]) => y));
  return values.map(([x, y]) => ({
    x: margin + across(x) * (width - 2 * margin),
    y: height - margin - up(y) * (height - 2 * margin),
  }));
}

/** Maps values to shares of their range, or to 0.5 if all are equal. */
function axis(values: readonly number[]): (value: number) => number {
  const finite = values.filter(Number.isFinite);
  const least = finite.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const greatest = finite.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  // Halving keeps the difference of the largest numbers finite.
  const span = greatest / 2 - least / 2;
  return (value) => (span > 0 ? (value / 2 - least / 2) / span : value - value + 0.5);
}
