/** The look of a trial's line depends on the trial's number alone, so that a trial looks the same in each chart. */

export const hues = 8;
/** In charts with more trials than this, only emphasised trials have their hue; the others are grey. */
export const coloursMax = 16;

/** Lengths of strokes and gaps in CSS pixels, for each round through the hues. */
const dashes: readonly (readonly number[])[] = [[], [6, 3], [2, 3], [8, 3, 2, 3]];

export type LineStyle = {
  /** The number of a theme colour, from 1 to 8; null for grey. */
  readonly hue: number | null;
  readonly dash: readonly number[];
};

export function lineStyleOf(trial: number): LineStyle {
  const index = Math.max(0, Math.floor(trial) - 1);
  return { hue: (index % hues) + 1, dash: dashes[Math.floor(index / hues) % dashes.length] ?? [] };
}

/** Returns the looks of the trials in one chart. */
export function lineStylesOf(
  trials: readonly number[],
  emphasised: ReadonlySet<number>,
): ReadonlyMap<number, LineStyle> {
  const different = [...new Set(trials)];
  const grey = different.length > coloursMax;
  return new Map(
    different.map((trial) => [
      trial,
      grey && !emphasised.has(trial) ? { hue: null, dash: [] } : lineStyleOf(trial),
    ]),
  );
}
