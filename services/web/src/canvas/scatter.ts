/** Points of two values each, placed in a box with its y axis upwards. */
export type Box = { readonly width: number; readonly height: number; readonly margin: number };

/** In the order of the values; values that are not finite are at NaN. All points are within the margins. */
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

/** Values to shares of their range; all 0.5 where they are equal. */
function axis(values: readonly number[]): (value: number) => number {
  const finite = values.filter(Number.isFinite);
  const least = finite.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const greatest = finite.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  // Halves keep the difference of the largest numbers finite.
  const span = greatest / 2 - least / 2;
  return (value) => (span > 0 ? (value / 2 - least / 2) / span : value - value + 0.5);
}
